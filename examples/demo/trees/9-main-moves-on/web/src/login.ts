import { post } from "./client";
import { createSession, type Session } from "./session";

const DAY = 24 * 60 * 60 * 1000;
const MONTH = 30 * DAY;

interface User {
  id: string;
}

/** Logs in; the name may carry the spaces that a phone's keyboard adds. */
export async function login(name: string, password: string, remember: boolean): Promise<Session> {
  const user = await post<User>("/login", { name: name.trim(), password });
  return createSession(user.id, remember ? MONTH : DAY);
}
