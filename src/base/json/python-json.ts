/** JSON as Python's `json` module writes it: NaN and Infinity are numbers, and integers beyond 2⁵³ keep all their digits. */
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../json.js';

/**
 * Parses such text. NaN and ±Infinity become numbers. An integer that a number cannot hold exactly becomes the text of its digits.
 * @throws SyntaxError where the text is not JSON otherwise; RangeError where such literals are nested too deep.
 */
export function parsePythonJson(text: string): Json {
  if (!LARGE_ID.test(text)) {
    try {
      return JSON.parse(text) as Json;
    } catch (error) {
      if (!(error instanceof SyntaxError) || !/NaN|Infinity/.test(text)) throw error;
    }
  }
  const marked = text.replace(LITERALS, literal => {
    if (literal.startsWith('"')) return literal;
    return /\d/.test(literal) && Number.isSafeInteger(Number(literal)) ? literal : `{${JSON.stringify(MARK)}:"${literal}"}`;
  });
  return unmark(JSON.parse(marked) as Json);
}

/** Only ids are searched for large integers, because a search for all of them would cost as much as the parsing. */
const LARGE_ID = /id"\s*:\s*-?\d{16}/;

/** Strings, so that they are skipped; literals that JSON lacks; long integers. */
const LITERALS = /"(?:[^"\\]|\\.)*"|NaN|-?Infinity|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;

/** The only member of an object that stands for a literal. */
const MARK = '\0';

function unmark(value: Json): Json {
  if (isJsonList(value)) return value.map(unmark);
  if (!isJsonObject(value)) return value;
  const literal = findLiteral(value);
  if (literal !== undefined) return /\d/.test(literal) ? literal : Number(literal);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, unmark(member)]));
}

function findLiteral(value: JsonObject): string | undefined {
  const literal = value[MARK];
  return typeof literal === 'string' && Object.keys(value).length === 1 ? literal : undefined;
}
