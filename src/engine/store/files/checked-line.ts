/** How does a line of a log show that it is whole? Its CRC-32 stands before it. */
import { crc32 } from 'node:zlib';
import type { JsonObject } from '../../../base/json.js';
import { isJsonObject, parseJson } from '../../../base/json.js';

/** The line of a record, with its end. */
export function encodeCheckedLine(record: object): string {
  const body = JSON.stringify(record);
  return `${checksum(body)} ${body}\n`;
}

/** The record of a line without its end; undefined where the line is torn, altered, or no object. */
export function parseCheckedLine(line: string): JsonObject | undefined {
  if (!isWholeLine(line)) return undefined;
  const record = parseJson(line.slice(9));
  return record !== undefined && isJsonObject(record) ? record : undefined;
}

/** Has the line the checksum that stands before it? */
export function isWholeLine(line: string): boolean {
  return line[8] === ' ' && line.slice(0, 8) === checksum(line.slice(9));
}

function checksum(body: string): string {
  return crc32(body).toString(16).padStart(8, '0');
}
