import { post } from "./client";

export interface Session {
  token: string;
  userId: string;
}

/** Opens a session. */
export async function createSession(userId: string): Promise<Session> {
  return post<Session>("/sessions", { userId });
}
