/** Changes of YAML text at one place: everything else, comments and layout included, keeps its bytes. */
import { isCollection, isMap, isNode, isPair, isScalar, isSeq, type Node, type Pair, stringify, type YAMLMap, type YAMLSeq } from 'yaml';
import type { Json } from '../../base/json.js';
import { refuse } from './edit-error.js';

/** A change of text: `text` takes the place of the characters from `from` to `to`. */
export interface TextChange {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

export function applyChange(text: string, change: TextChange): string {
  return text.slice(0, change.from) + change.text + text.slice(change.to);
}

/** A value in one line: `{tensor: a, set: {dtype: int16}}`. */
export function flowText(value: Json): string {
  const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: false }).trimEnd();
  if (text.includes('\n')) throw refuse('ui-edit-place', 'the value cannot be written in one line');
  return text;
}

/** The text of a member at the end of a map. */
export function addMember(text: string, map: YAMLMap, key: string, value: Json): TextChange {
  const member = `${flowText(key)}: ${flowText(value)}`;
  if (map.flow === true) return addToFlow(map, member, lastPair(map));
  const first = map.items[0];
  const last = lastPair(map);
  if (first === undefined || last === undefined || !isNode(first.key))
    throw refuse('ui-edit-place', `the map that "${key}" belongs to has no members`);
  return addLine(text, columnOf(text, startOf(first.key)), endOf(last), member);
}

/** The text of an item at the end of a list. */
export function addItem(text: string, list: YAMLSeq, value: Json): TextChange {
  const last = list.items.at(-1);
  if (list.flow === true) return addToFlow(list, flowText(value), isNode(last) ? last : undefined);
  if (!isNode(last)) throw refuse('ui-edit-place', 'the list has no items');
  const dash = text.lastIndexOf('-', startOf(last) - 1);
  return addLine(text, columnOf(text, dash), endOf(last), `- ${flowText(value)}`);
}

/** Another value in the place of a scalar or a flow collection. */
export function replaceNode(node: Node, value: Json): TextChange {
  if (!isScalar(node) && !(isCollection(node) && node.flow === true))
    throw refuse('ui-edit-place', 'the value is written over several lines');
  if (isCollection(node) && hasComments(node)) throw refuse('ui-edit-place', 'the value holds comments, which would be lost');
  return { from: startOf(node), to: rangeOf(node)[1], text: flowText(value) };
}

function hasComments(node: Node): boolean {
  if (node.comment || node.commentBefore) return true;
  if (isMap(node)) return node.items.some(pair => [pair.key, pair.value].some(one => isNode(one) && hasComments(one)));
  return isSeq(node) && node.items.some(one => isNode(one) && hasComments(one));
}

function addToFlow(collection: Node, text: string, last: Node | Pair | undefined): TextChange {
  const at = last === undefined ? startOf(collection) + 1 : endOf(last);
  return { from: at, to: at, text: last === undefined ? text : `, ${text}` };
}

/** A line of its own, after the line in which the last member ends, with that line's comment. */
function addLine(text: string, column: number, end: number, line: string): TextChange {
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const isAtStart = end === 0 || text[end - 1] === '\n';
  const next = text.indexOf('\n', end);
  const at = isAtStart ? end : next < 0 ? text.length : next + 1;
  const lead = at === text.length && !text.endsWith('\n') && !isAtStart ? newline : '';
  return { from: at, to: at, text: `${lead}${' '.repeat(column)}${line}${newline}` };
}

function lastPair(map: YAMLMap): Pair | undefined {
  return map.items.at(-1);
}

function endOf(node: Node | Pair): number {
  if (!isPair(node)) return rangeOf(node)[1];
  if (isNode(node.value) && node.value.range) return rangeOf(node.value)[1];
  if (isNode(node.key)) return rangeOf(node.key)[1];
  throw refuse('ui-edit-place', 'a member of the map has no place in the file');
}

function startOf(node: Node): number {
  return rangeOf(node)[0];
}

function rangeOf(node: Node): readonly [number, number, number] {
  if (!node.range) throw refuse('ui-edit-place', 'a value has no place in the file');
  return node.range;
}

function columnOf(text: string, offset: number): number {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const column = offset - start;
  if (text.slice(start, offset).trim() !== '') throw refuse('ui-edit-place', 'the place does not begin its line');
  return column;
}
