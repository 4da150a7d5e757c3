/** The type of a detector family that `export` builds from a checkpoint and `split` cuts. The declaration is small; the code is loaded when it is used. */
import type { Json, JsonObject } from '../../base/json.js';
import type { Model } from '../../onnx/ir/model.js';
import type { StateDict } from '../network/state-dict.js';
import type { ReadConfigFile } from './config-file.js';
import type { FitPolicy } from './detector-family.js';
import type { RoiBatch } from './detector-part.js';
import type { HostRecipe } from './host-recipe.js';
import type { PartValues } from './part-values.js';

export interface ExportedFamily {
  /** `architecture` of its host recipes. */
  readonly name: string;
  /** Which networks it covers, for the schema of `export`. */
  readonly description: string;
  /** In the order in which they run. */
  readonly parts: readonly string[];
  /** Named sets of config defaults. */
  readonly defaults: readonly string[];
  /** Per export option that the family has no use for, the reason: a clause after "architecture NAME". */
  readonly unusedOptions: Readonly<Partial<Record<ExportOption, string>>>;
  /** Key of a tensor that every checkpoint has. It reveals a common prefix of the keys. */
  readonly probe: string;
  load(): Promise<FamilyExporter>;
  /** Absent where parts are found only by the names in a recipe. */
  readonly structureCut?: StructureCut;
}

export type ExportOption = 'roiBatch' | 'roiBatch.maskIou' | 'maskInput' | 'size' | 'fit' | 'frozenBatchNormEpsilon';

export interface FamilyExporter {
  /** @throws DetectionError `bad-config`. */
  readConfig(value: Json | undefined, defaults: string | undefined): ConfiguredExport;
}

/** A config that was read, and the export that uses it. */
export interface ConfiguredExport {
  readonly read: ReadConfigFile<object>;
  /** Where default values come from: in the report, and as a possessive in the log. */
  readonly defaultsSource: { readonly name: string; readonly possessive: string };
  /** @throws DetectionError `checkpoint-mismatch`, `config-mismatch`, `input-size`, `frozen-epsilon`. */
  export(state: StateDict, options: ExportOptions): ExportedDetector;
}

export interface ExportOptions {
  readonly height: number;
  readonly width: number;
  readonly roiBatch: { readonly box: RoiBatch; readonly mask: RoiBatch; readonly maskIou?: RoiBatch };
  /** Default: 'split'. */
  readonly maskInput?: 'split' | 'concat' | undefined;
  readonly fit: FitPolicy;
  /** Default: 'fixed'. */
  readonly size?: 'fixed' | 'free' | undefined;
  readonly frozenBatchNormEpsilon?: number | undefined;
}

export interface ExportedDetector {
  readonly model: Model;
  readonly recipe: HostRecipe;
  /** Lines for the log. */
  readonly notes: readonly string[];
  /** Adds the fields of the family to those that all families have. */
  report(facts: ExportFacts): JsonObject;
}

export interface ExportFacts {
  readonly checkpoint: JsonObject;
  readonly operators: JsonObject;
  readonly config: Json;
}

/** Finds the parts in a whole detector that another tool exported, by what its nodes do. */
export interface StructureCut {
  /** Parts and CPU subgraphs in the order in which they run. */
  readonly subgraphs: readonly string[];
  load(): Promise<CutByStructure>;
}

export type CutByStructure = (whole: Model, options: CutOptions) => CutDetector;

export interface CutOptions {
  /** Detector config as JSON. */
  readonly config: Json;
  readonly fit: FitPolicy;
  /** Whether the subgraphs between and after the parts are extracted too. */
  readonly cpuSubgraphs: 'extract' | 'omit';
}

export interface CutDetector {
  readonly recipe: HostRecipe;
  /** In the order in which they run. */
  readonly subgraphs: readonly ExtractedSubgraph[];
  /** Per value of the recipe, its name in the whole model. */
  readonly found: Readonly<Record<string, string>>;
}

export interface ExtractedSubgraph {
  readonly name: string;
  readonly values: PartValues;
  readonly model: Model;
}
