import { post } from "./client";
import { createSession, type Session } from "./session";

const DAY = 24 * 60 * 60 * 1000;

interface User {
  id: string;
}

export async function login(name: string, password: string): Promise<Session> {
  const user = await post<User>("/login", { name, password });
  return createSession(user.id, DAY);
}
