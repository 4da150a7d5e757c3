/** Ports of stages: named inputs and outputs, each with an artifact kind. */

/**
 * The type of an artifact. Two ports connect if their kinds are equal or one is 'any'. A kind determines the artifact's name under artifacts/:
 * `form: 'file'` with its extension, or a folder.
 */
export interface ArtifactKind {
  readonly form: 'file' | 'folder' | 'either';
  /** With the dot; '' if the producer's port name already has an extension. */
  readonly extension: string;
  readonly description: string;
}

/** All kinds. Artifacts without a special kind are `file`, `json` or `folder`. */
export const ARTIFACT_KINDS = {
  any: { form: 'either', extension: '', description: 'Any file or folder.' },
  folder: { form: 'folder', extension: '', description: 'A folder.' },
  file: { form: 'file', extension: '', description: 'Any file.' },
  json: { form: 'file', extension: '.json', description: 'A JSON file.' },
  'onnx-model': { form: 'file', extension: '.onnx', description: 'An ONNX model in one file.' },
  checkpoint: { form: 'file', extension: '', description: 'A state dict: .safetensors, .pth or .pt.' },
  'detector-config': {
    form: 'file',
    extension: '.json',
    description: 'What a checkpoint cannot hold: sizes, anchors, thresholds, categories.',
  },
  recipe: { form: 'file', extension: '.json', description: 'How the host joins the parts of a detector.' },
  annotations: { form: 'file', extension: '.json', description: 'COCO instances.' },
  images: { form: 'folder', extension: '', description: 'A folder of images.' },
  captured: {
    form: 'folder',
    extension: '',
    description: 'Inputs and outputs of models, sample by sample: an index and npz files.',
  },
  sketches: { form: 'file', extension: '.json', description: 'Calibration sketches of every activation of one model.' },
  detections: { form: 'file', extension: '.json', description: 'Detections in COCO results form.' },
  metrics: { form: 'file', extension: '.json', description: 'Nested objects of numbers: gates put bounds on them, `build` prints them.' },
  bundle: {
    form: 'folder',
    extension: '',
    description: 'Deployment bundle: models, parts, options, golden values, a manifest.',
  },
  page: { form: 'file', extension: '.html', description: 'A web page in one file.' },
  report: { form: 'file', extension: '.json', description: 'A report of a stage, for people and for the report page.' },
} as const satisfies Record<string, ArtifactKind>;

export type KindName = keyof typeof ARTIFACT_KINDS;

export interface Port {
  readonly kind: KindName;
  readonly optional: boolean;
  /** undefined: one artifact. A list: a record with these entries. 'any': a record with entries of any name. */
  readonly entries: 'any' | readonly string[] | undefined;
  /** Kinds of single entries of a record that differ from `kind`. */
  readonly entryKinds: Readonly<Record<string, KindName>>;
  readonly description: string;
  /** Only for an optional port of one artifact. */
  readonly beside?: Beside;
}

/** A port that nothing is connected to takes a file that lies beside a source: the first that exists of the source's name with one of the suffixes. */
export interface Beside {
  /** The port that takes the source. */
  readonly input: string;
  readonly suffixes: readonly string[];
}

export type Ports = Readonly<Record<string, Port>>;

export function port(kind: KindName, description = '', { optional = false, beside }: { optional?: boolean; beside?: Beside } = {}): Port {
  return { kind, optional, entries: undefined, entryKinds: {}, description, ...(beside === undefined ? {} : { beside }) };
}

/** A port for several artifacts by name, such as a data set's `{annotations, images}`. */
export function recordPort(
  entries: 'any' | Readonly<Record<string, KindName>>,
  description = '',
  options: { optional?: boolean; kind?: KindName } = {},
): Port {
  return {
    kind: options.kind ?? 'any',
    optional: options.optional ?? false,
    entries: entries === 'any' ? 'any' : Object.keys(entries),
    entryKinds: entries === 'any' ? {} : entries,
    description,
  };
}
