import { nanoid } from "nanoid";

const API = "/api";

/** Sends `body` to the server; the key lets it see a request that came twice. */
export async function post<T>(path: string, body: unknown): Promise<T> {
  const reply = await fetch(API + path, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": nanoid() },
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(`${path}: ${reply.status}`);
  return (await reply.json()) as T;
}
