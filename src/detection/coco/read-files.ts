/** How are annotation and result files read from disk? Results piece by piece, so that a file of any size takes no more memory than what is in it. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { assertNever } from '../../base/assert-never.js';
import { isJsonObject, type Json } from '../../base/json.js';
import { JsonListError, type ListDefect, readListElements } from '../../base/json-elements.js';
import { DetectionError } from '../error/detection-error.js';
import { type CocoDataset, parseCocoDataset } from './dataset.js';
import { type CocoResult, makeResultParser } from './results.js';

/** @throws DetectionError `coco-unreadable`, `coco-malformed`, and as `parseCocoDataset`, the file's name before the message. */
export async function readCocoDataset(path: string): Promise<CocoDataset> {
  const text = await readText(path);
  return named(path, () => parseCocoDataset(parseJson(path, text)));
}

/**
 * A list of results, or a document that has them as its `annotations`, which is read as a whole.
 * @throws DetectionError `coco-unreadable`, `coco-malformed`, and as `makeResultParser`, the file's name before the message.
 */
export async function readCocoResults(path: string, dataset: CocoDataset): Promise<readonly CocoResult[]> {
  const parse = makeResultParser(dataset);
  const results: CocoResult[] = [];
  try {
    for await (const elements of readListElements(createReadStream(path, { highWaterMark: CHUNK_BYTES })))
      for (const element of elements) results.push(named(path, () => parse(element, results.length)));
  } catch (error) {
    if (error instanceof DetectionError) throw error;
    if (error instanceof JsonListError && error.defect.kind === 'not-a-list') return readDocument(path, dataset);
    if (error instanceof JsonListError) throw describeDefect(path, error.defect);
    if (isSystemError(error)) throw unreadable(path, error);
    throw error;
  }
  return results;
}

const CHUNK_BYTES = 1 << 20;

async function readDocument(path: string, dataset: CocoDataset): Promise<readonly CocoResult[]> {
  const document = parseJson(path, await readText(path));
  const annotations = isJsonObject(document) ? document.annotations : undefined;
  if (!Array.isArray(annotations)) throw malformed(path, 'is no list of results, and no document with a list of annotations');
  return named(path, () => (annotations as readonly Json[]).map(makeResultParser(dataset)));
}

/** A file that is longer than a text can be is unreadable too. */
async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw unreadable(path, error);
  }
}

function parseJson(path: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw malformed(path, `is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
}

/** Says of every error which of the files it is about. */
function named<T>(path: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof DetectionError) || error.code === 'coco-malformed') throw error;
    const { code, message, details, help, cause } = error;
    throw new DetectionError(code, `${basename(path)}: ${message}`, { details, cause, ...(help === undefined ? {} : { help }) });
  }
}

function describeDefect(path: string, defect: ListDefect): DetectionError {
  switch (defect.kind) {
    case 'not-a-list':
      return malformed(path, 'is no list of results');
    case 'element':
      return malformed(path, `is not JSON, in result ${defect.index}: ${defect.reason}`);
    case 'cut-off':
      return malformed(path, `ends in the middle, after ${defect.index} results`);
    case 'after-list':
      return malformed(path, 'goes on after the end of its list');
    default:
      return assertNever(defect);
  }
}

function malformed(path: string, what: string, cause?: unknown): DetectionError {
  const isNoNumber = /Unexpected token '?[NI]'?|No number after minus sign/.test(what);
  return new DetectionError('coco-malformed', `${basename(path)} ${what}`, {
    cause,
    help: isNoNumber
      ? 'JSON has no NaN and no Infinity: whatever wrote the file computed a score or a box that is no number'
      : 'is it the right file, and whole?',
  });
}

function unreadable(path: string, error: unknown): DetectionError {
  const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  return new DetectionError('coco-unreadable', `${basename(path)} cannot be read: ${reason}`, { cause: error, help: 'check the path' });
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}
