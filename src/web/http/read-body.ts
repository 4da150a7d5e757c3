/** Reads the JSON body of a request, up to a bound. */
import type { IncomingMessage } from 'node:http';
import { CodedError } from '../../base/coded-error.js';
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.js';

/** A request that cannot be answered as it is. Codes: docs/errors.md, section "page". */
export class RequestError extends CodedError {
  override readonly name = 'RequestError';
  readonly status: number;
  constructor(status: number, code: string, message: string, help?: string) {
    super(code, message, help === undefined ? {} : { help });
    this.status = status;
  }
}

/** Requests of the page are far smaller. */
export const MOST_BODY_BYTES = 256_000;

/** @throws RequestError `ui-too-large`, `ui-bad-request`. */
export async function readJsonBody(request: IncomingMessage): Promise<JsonObject> {
  const announced = Number(request.headers['content-length'] ?? 0);
  const pieces: Buffer[] = [];
  let bytes = 0;
  if (announced > MOST_BODY_BYTES) throw tooLarge();
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MOST_BODY_BYTES) throw tooLarge();
    pieces.push(piece);
  }
  const value = parseJson(Buffer.concat(pieces).toString('utf8'));
  if (!isJsonObject(value)) throw new RequestError(400, 'ui-bad-request', 'the request is not a JSON object');
  return value;
}

function tooLarge(): RequestError {
  return new RequestError(413, 'ui-too-large', `the request is larger than ${MOST_BODY_BYTES} bytes`);
}
