/** Requests to the server of the page. The token comes from the fragment of the address, and is sent in a header. */
import type { Json } from '../../../base/json.js';
import { answerSaved, isSaved } from './saved.js';

/** An error that the server states, or that it cannot be reached. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly help: string | undefined;
  constructor(status: number, code: string, message: string, help?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.help = help;
  }
}

/** The code of an answer that is another kind of file. */
export const NOT_JSON = 'not-json';

/** The fragment is read at each request: a new address with a new token may be pasted into the same tab. */
export function tokenOf(fragment: string = location.hash): string {
  return new URLSearchParams(fragment.replace(/^#/, '')).get('token') ?? '';
}

export function request(path: string, init: RequestInit = {}): Promise<Response> {
  if (isSaved) return answerSaved(path);
  return fetch(`/api/${path}`, { ...init, headers: { ...init.headers, authorization: `Bearer ${tokenOf()}` }, credentials: 'omit' });
}

/** @throws ApiError. */
export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await reach(path, signal === undefined ? {} : { signal });
  try {
    return (await response.json()) as T;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ApiError(response.status, NOT_JSON, `the answer is not JSON: ${error.message}`, 'build the stage that wrote the file again');
  }
}

/** @throws ApiError. */
export async function getBytes(path: string, signal?: AbortSignal): Promise<ArrayBuffer> {
  return (await reach(path, signal === undefined ? {} : { signal })).arrayBuffer();
}

/** @throws ApiError. */
export async function post<T>(path: string, body: Json): Promise<T> {
  const response = await reach(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  return (await response.json()) as T;
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  const response = await request(path, init).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, 'not-reached', 'the server does not answer', 'start `tanren ui` again: this page connects by itself');
  });
  if (response.ok) return response;
  throw await errorOf(response);
}

/** The error that an answer states. */
export async function errorOf(response: Response): Promise<ApiError> {
  const answer = (await response.json().catch(() => ({}))) as { error?: { code?: string; message?: string; help?: string } };
  const { code = 'unknown', message = `the server answers ${response.status}`, help } = answer.error ?? {};
  return new ApiError(response.status, code, message, help);
}

/** The address of data, with its parameters. */
export function address(name: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams(Object.entries(parameters).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
  const text = query.toString();
  return text === '' ? name : `${name}?${text}`;
}
