import { post } from "./client";

export interface Session {
  token: string;
  userId: string;
  expiresAt: number;
}

/** Opens a session that lives for as long as the server says. */
export async function createSession(userId: string): Promise<Session> {
  const opened = await post<{ token: string; expiresAt: number }>("/sessions", { userId });
  return { token: opened.token, userId, expiresAt: opened.expiresAt };
}

/** Whether the session can still be used; half a minute early, for a request takes its time. */
export function isAlive(session: Session): boolean {
  return session.expiresAt - 30_000 > Date.now();
}
