/** The detections of some sides against the ground truth, as a saved page keeps it. */
import type { ChangeList } from './change-list.js';
import type { ErrorSplit } from './errors.js';
import type { IouType } from './params.js';
import type { SemanticFigures } from './semantic.js';

export type JudgedSide = {
  /** The stage that found the detections. */
  readonly stage: string;
  readonly errors: ErrorSplit;
  /** Where all objects and detections have masks. */
  readonly pixels?: Pick<SemanticFigures, 'pixelAccuracy' | 'meanAccuracy' | 'meanIou'>;
};

export type JudgedSides = {
  readonly iouType: IouType;
  readonly sides: readonly JudgedSide[];
  /** From the first side to the last. */
  readonly changes: ChangeList;
};
