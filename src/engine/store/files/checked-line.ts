/** Lines of logs with a leading CRC-32, which shows whether a line is intact. */
import { crc32 } from 'node:zlib';
import type { JsonObject } from '../../../base/json.js';
import { isJsonObject, parseJson } from '../../../base/json.js';

/** Encodes a record as a line, including its line end. */
export function encodeCheckedLine(record: object): string {
  const body = JSON.stringify(record);
  return `${checksum(body)} ${body}\n`;
}

/** The record of a line without its line end; undefined if the line is torn, altered, or not an object. */
export function parseCheckedLine(line: string): JsonObject | undefined {
  if (!isWholeLine(line)) return undefined;
  const record = parseJson(line.slice(9));
  return record !== undefined && isJsonObject(record) ? record : undefined;
}

/** Whether the line has the checksum that it starts with. */
export function isWholeLine(line: string): boolean {
  return line[8] === ' ' && line.slice(0, 8) === checksum(line.slice(9));
}

function checksum(body: string): string {
  return crc32(body).toString(16).padStart(8, '0');
}
