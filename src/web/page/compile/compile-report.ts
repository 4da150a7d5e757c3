/** The parts of the report of `compile` that the page uses. Times are estimates. */

export interface CompileReport {
  readonly target: {
    readonly profile: string;
    readonly title: string;
    readonly device: string;
    readonly dtype: string;
    readonly version: string;
  };
  readonly models: readonly CompiledModel[];
}

export interface CompiledModel {
  readonly name: string;
  readonly legal: boolean;
  readonly counts: Readonly<Record<string, number>>;
  readonly findings: readonly Finding[];
  readonly units: readonly Unit[];
  readonly parts: readonly Part[];
  readonly estimate?: {
    readonly image?: { readonly calls: number; readonly perImage: Latency };
    readonly basis: { readonly formula: string; readonly constants: readonly EstimateConstant[] };
  };
}

export interface Latency {
  readonly ms: number;
  readonly lowMs: number;
  readonly highMs: number;
}

export interface Finding {
  readonly code?: string;
  readonly severity?: string;
  readonly message?: string;
  readonly help?: string;
  readonly source?: { readonly title?: string; readonly ref?: string };
}

export interface Unit {
  readonly id: number;
  readonly opType: string;
  readonly name: string;
  readonly activation?: string;
  readonly device: 'npu' | 'cpu';
  readonly edge: boolean;
  readonly part: number;
  readonly findings: readonly Finding[];
  readonly outputs: readonly { readonly name: string; readonly dtype: string; readonly dims: readonly number[] }[];
  readonly macs: number;
  readonly weightBytes: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
  readonly demoted?: string;
  readonly estimate?: Latency & { readonly bound: 'compute' | 'memory' };
  readonly callMs?: number;
}

export interface Part {
  readonly index: number;
  readonly name: string;
  readonly device: 'npu' | 'cpu';
  readonly units: readonly number[];
  readonly macs: number;
  readonly estimate?: Latency;
  readonly memory?: {
    readonly peakBytes: number;
    readonly boundBytes: number;
    readonly units: readonly number[];
    readonly tensors: readonly {
      readonly name: string;
      readonly bytes: number;
      readonly offset: number;
      readonly first: number;
      readonly last: number;
    }[];
    readonly onChip?: { readonly bytes: number };
  };
}

export interface EstimateConstant {
  readonly name: string;
  readonly value: number;
  readonly low?: number;
  readonly high?: number;
  readonly unit: string;
  readonly source: { readonly title?: string; readonly ref?: string; readonly kind?: string };
}
