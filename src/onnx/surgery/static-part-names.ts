/** What a cut by known sizes gives, by its options. It is apart from the cut, so that declaring a plugin loads no model code. */

export interface StaticCutOptions {
  /** Names of the heads that become parts, in the order in which they run. Heads without a name stay in `rest`. */
  readonly heads: readonly string[];
  /** What becomes of the nodes before the network. 'drop': nothing, the host prepares images. 'model': a part. */
  readonly prepare: 'drop' | 'model';
}

/** Names of the parts that `cutStatic` gives, in the order in which they run. */
export function listStaticParts({ heads, prepare }: StaticCutOptions): readonly string[] {
  return [...(prepare === 'model' ? ['prepare'] : []), 'network', ...heads.flatMap(head => [`to_${head}`, head]), 'rest'];
}
