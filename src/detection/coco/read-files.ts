/** Reads annotation and result files. Results are streamed, so that large files do not need to fit in memory as text. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { assertNever } from '../../base/assert-never.js';
import { JsonListError, type ListDefect, readListElements } from '../../base/json/json-elements.js';
import { parsePythonJson } from '../../base/json/python-json.js';
import { isJsonList, isJsonObject, type Json } from '../../base/json.js';
import { codeOrText, isSystemCallError } from '../../base/system-error.js';
import { DetectionError } from '../error/detection-error.js';
import { type CocoDataset, parseCocoDataset } from './dataset.js';
import { ignoreOddity, type NoteOddity } from './oddities.js';
import { type CocoResult, makeResultParser } from './results.js';

/** @throws DetectionError `coco-unreadable`, `coco-malformed`, and as `parseCocoDataset`, with the file name before the message; `note` gets what is odd. */
export async function readCocoDataset(path: string, note: NoteOddity = ignoreOddity): Promise<CocoDataset> {
  const text = await readText(path);
  return named(path, () => parseCocoDataset(parseJson(path, text), note));
}

/**
 * Reads a list of results, or a document with results as its `annotations`; the document is read as a whole.
 * @throws DetectionError `coco-unreadable`, `coco-malformed`, and as `makeResultParser`, with the file name before the message.
 */
export async function readCocoResults(path: string, dataset: CocoDataset, note: NoteOddity = ignoreOddity): Promise<readonly CocoResult[]> {
  const parse = makeResultParser(dataset, note);
  const results: CocoResult[] = [];
  try {
    for await (const elements of readListElements(createReadStream(path, { highWaterMark: CHUNK_BYTES })))
      for (const element of elements) results.push(named(path, () => parse(element, results.length)));
  } catch (error) {
    if (error instanceof DetectionError) throw error;
    if (error instanceof JsonListError && error.defect.kind === 'not-a-list') return readDocument(path, dataset, note);
    if (error instanceof JsonListError) throw describeDefect(path, error.defect);
    if (isSystemCallError(error)) throw unreadable(path, error);
    throw error;
  }
  return results;
}

const CHUNK_BYTES = 1 << 20;

async function readDocument(path: string, dataset: CocoDataset, note: NoteOddity): Promise<readonly CocoResult[]> {
  const document = parseJson(path, await readText(path));
  const annotations = isJsonObject(document) ? document.annotations : undefined;
  if (!isJsonList(annotations)) throw malformed(path, 'is neither a list of results nor a document with a list of annotations');
  return named(path, () => annotations.map(makeResultParser(dataset, note)));
}

/** A file that exceeds the maximum string length is also unreadable. */
async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw unreadable(path, error);
  }
}

function parseJson(path: string, text: string): Json {
  try {
    return parsePythonJson(text);
  } catch (cause) {
    throw malformed(path, `is not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
}

/** Adds the file name to every error. */
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
      return malformed(path, 'is not a list of results');
    case 'element':
      return malformed(path, `is not valid JSON in result ${defect.index}: ${defect.reason}`);
    case 'cut-off':
      return malformed(path, `is truncated after ${defect.index} results`);
    case 'after-list':
      return malformed(path, 'has content after the end of its list');
    default:
      return assertNever(defect);
  }
}

function malformed(path: string, what: string, cause?: unknown): DetectionError {
  return new DetectionError('coco-malformed', `${basename(path)} ${what}`, {
    cause,
    help: 'check that it is the right file and complete',
  });
}

function unreadable(path: string, error: unknown): DetectionError {
  return new DetectionError('coco-unreadable', `${basename(path)} cannot be read: ${codeOrText(error)}`, {
    cause: error,
    help: 'check the path',
  });
}
