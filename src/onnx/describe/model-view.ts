/** A model as the page shows it: nodes, values and their types, statistics of weights. */

export type ModelView = {
  readonly name: string;
  readonly producer: string;
  readonly opsets: Readonly<Record<string, number>>;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly nodes: readonly NodeView[];
  readonly values: Readonly<Record<string, ValueView>>;
  readonly parameters: number;
  /** null: a node's are not known, as where the batch is free. */
  readonly macs: number | null;
};

export type NodeView = {
  /** Unique: the name, or the first output of a node without one. */
  readonly id: string;
  readonly op: string;
  readonly inputs: readonly (string | null)[];
  readonly outputs: readonly (string | null)[];
  readonly attributes: Readonly<Record<string, string>>;
  /** null: a dim is not known. */
  readonly macs: number | null;
  readonly parameters: number;
};

export type ValueView = {
  readonly dtype?: string;
  readonly shape?: string;
  readonly constant?: ConstantView;
};

export type ConstantView = {
  readonly elements: number;
  readonly bytes: number;
  /** Of numbers; absent for texts, and for values in files beside the model. */
  readonly min?: number;
  readonly max?: number;
  readonly mean?: number;
  readonly std?: number;
};
