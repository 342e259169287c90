import { post } from "./client";

export interface Session {
  token: string;
  userId: string;
  expiresAt: number;
}

const HOUR = 60 * 60 * 1000;

/** Opens a session that lives for `ttl` milliseconds. */
export async function createSession(userId: string, ttl: number = HOUR): Promise<Session> {
  const opened = await post<{ token: string }>("/sessions", { userId, ttl });
  return { token: opened.token, userId, expiresAt: Date.now() + ttl };
}
