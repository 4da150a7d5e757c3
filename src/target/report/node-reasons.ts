/** The member `x-reasons` of an assignment report: why nodes are where they are, as `compile` predicts it or a board's files say it. */

import { readJsonShape } from '../../base/json/json-shape.js';
import type { Json } from '../../base/json.js';
import { isJsonList } from '../../base/json.js';
import { anyList, anyText, openObject, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';

const NODE_REASONS = openObject(
  {
    nodes: anyList(anyText(), 'First output of each node.'),
    findings: anyList(openObject({ message: text() }, { rule: text() })),
  },
  { name: anyText(), opType: text(), device: text(), demoted: text('Why legal nodes are on the CPU.') },
);

/** Nodes that share their reasons. */
export type NodeReasons = FromSchema<typeof NODE_REASONS>;

export const REASONS_MEMBER = 'x-reasons';

const reader = readerOf(NODE_REASONS);

/** The entries of the member. Those of another form are ignored: an older version may have written them. */
export function readNodeReasons(member: Json | undefined): readonly NodeReasons[] {
  return (isJsonList(member) ? member : []).flatMap(entry => {
    const read = readJsonShape(reader, entry);
    return read.kind === 'ok' ? [read.value] : [];
  });
}
