/** What the view "Pipeline" shows, and all other views know of the stages: of a project as it is now, or as a saved page keeps it. */
import type { Figure } from '../../base/figure.js';
import type { JsonObject } from '../../base/json.js';
import type { ReportView } from './report-data.js';

/** What a page may do. 'read-only': no build, no edit. 'saved': a page in a file, which has no project behind it. */
export const ACCESSES = ['full', 'read-only', 'saved'] as const;

export type Access = (typeof ACCESSES)[number];

export type ProjectFacts = {
  readonly folder: string;
  readonly pipeline: string;
  readonly file: string;
  readonly version: string;
  readonly access: Access;
};

/** An edit of the pipeline file that a page has written. */
export type WrittenEdit = {
  /** What it changed: "stages.quantize.with.exclude, line 41". */
  readonly place: string;
  /** Digest of the file that it left: an undo names it, so that it takes back this edit and no other. */
  readonly left: string;
};

export type PipelineView = {
  readonly version: number;
  /** When the results were read, in milliseconds since 1970. */
  readonly readMs: number;
  readonly project: ProjectFacts;
  /** Problems of the pipeline file. With an error among them there are no stages. */
  readonly problems: readonly ProblemView[];
  readonly params: JsonObject;
  readonly stages: readonly StageRow[];
  /** Names that select stages, groups included. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
  readonly lastRun?: RunTimeline;
  /** How many actions the cache has results of, where none of them is one of these stages' now. */
  readonly cacheHolds?: number;
  /** The last edit of a page, if it can be undone. */
  readonly undoable?: WrittenEdit;
  /** Absent where no stage writes a report. */
  readonly report?: ReportView;
};

export type ProblemView = {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
  readonly help?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
};

export type StageRow = {
  readonly id: string;
  readonly group: string;
  readonly plugin: string;
  readonly dependsOn: readonly string[];
  readonly state: 'up-to-date' | 'restorable' | 'stale' | 'undecided' | 'impossible' | 'blocked';
  /** One sentence per reason why it is not up to date. */
  readonly why: readonly string[];
  readonly built: boolean;
  /** Only the cache has the outputs: no build has placed them under artifacts/. */
  readonly cached?: true;
  /** In a saved page: how the stage ended in the build that wrote it. */
  readonly outcome?: 'up-to-date' | 'restored' | 'executed';
  /** How the stage ended in the last build that it was part of; absent if no recorded build knows it. */
  readonly last?: LastOutcome;
  /** The action key of the present result. */
  readonly key?: string;
  /** Duration of the run that made the present result. */
  readonly durationMs?: number;
  readonly figures: readonly FigureView[];
  readonly gates: readonly GateView[];
  readonly outputs: readonly OutputView[];
  /** One entry per artifact or source; entries of record ports are "port.entry". */
  readonly inputs: readonly InputRefView[];
};

export type LastOutcome = {
  /** Absent in a saved page, which knows one build. */
  readonly run?: string;
  readonly outcome: 'up-to-date' | 'restored' | 'executed' | 'failed' | 'skipped' | 'cancelled';
  /** Of a restored stage; absent for the local cache. */
  readonly from?: 'remote';
};

export type InputRefView = {
  readonly name: string;
  /** Of an artifact. */
  readonly stage?: string;
  readonly port?: string;
  /** Of a source: its path as written. */
  readonly path?: string;
};

export type FigureView = {
  readonly label: string;
  readonly metric: string;
  readonly value: Figure;
  readonly previous?: Figure;
  readonly unit?: 'share' | 'ms';
};

export type GateView = {
  readonly metric: string;
  readonly bound: string;
  readonly value?: Figure;
  readonly verdict: 'met' | 'missed' | 'unknown';
  /** Of a missed gate, if the stage states any. */
  readonly reasons?: readonly string[];
};

export type OutputView = {
  readonly port: string;
  readonly kind: string;
  readonly path: string;
  readonly tree: boolean;
  readonly sizeBytes?: number;
  readonly digest?: string;
  /** The saved page does not hold the content. */
  readonly absent?: true;
};

/** The newest run that ran something, for the timeline. */
export type RunTimeline = {
  readonly run: string;
  readonly started: string;
  readonly durationMs: number;
  readonly conclusion: string;
  readonly criticalPath: readonly string[];
  readonly stages: readonly { readonly stage: string; readonly outcome: string; readonly spans: readonly TimelineSpan[] }[];
};

export type TimelineSpan = {
  readonly what: string;
  readonly atMs: number;
  readonly durationMs: number;
};
