/** Parses a node selector from an argument: a name, fields such as "op=MaxPool producer=Conv kernel_shape=[1,1]", or JSON. */
import type { Json } from '../../../base/json.js';
import { OnnxError } from '../../../onnx/ir/onnx-error.js';
import { type NodeSelector, TEXT_FIELDS } from '../../../onnx/selection/node-selector.js';
import { parseSelectorJson } from '../../../onnx/selection/read-selector.js';

/** @throws OnnxError `bad-selector` if the text begins like JSON and is not valid JSON, or has invalid fields. */
export function parseSelector(text: string): NodeSelector {
  if (text.trimStart().startsWith('{')) return parseSelectorJson(parseJson(text));
  const terms = text.trim().split(/\s+/);
  const isFields = terms.every(term => /^[A-Za-z_]\w*=./.test(term)) && Object.hasOwn(TEXT_FIELDS, terms[0]?.split('=')[0] ?? '');
  if (!isFields) return text;
  const fields: Record<string, string> = {};
  const attributes: Record<string, number | string | readonly number[]> = {};
  for (const term of terms) {
    const at = term.indexOf('=');
    const [key, value] = [term.slice(0, at), term.slice(at + 1)];
    if (Object.hasOwn(TEXT_FIELDS, key)) fields[key] = value;
    else attributes[key] = parseValue(value);
  }
  return parseSelectorJson(Object.keys(attributes).length === 0 ? fields : { ...fields, attributes });
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new OnnxError('bad-selector', `${text} is not JSON: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
      help: 'a selector is a name, fields such as "op=MaxPool kernel_shape=[1,1]", or JSON such as {"op": "MaxPool"}',
    });
  }
}

function parseValue(text: string): number | string | readonly number[] {
  const isNumber = (item: string): boolean => item !== '' && Number.isFinite(Number(item));
  if (!/^\[.*\]$/.test(text)) return isNumber(text) ? Number(text) : text;
  const items = text.slice(1, -1).split(',').filter(Boolean);
  return items.every(isNumber) ? items.map(Number) : text;
}
