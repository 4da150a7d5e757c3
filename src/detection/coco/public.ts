/**
 * Public API of the package's entry point "tanren/coco".
 *
 * Data sets, results and masks are immutable plain data. Problems in a file throw a DetectionError, whose `code` names the kind of problem and whose
 * message names the place in the file.
 */

export { DetectionError } from '../error/detection-error.js';
export {
  type Polygon,
  rasterizePolygon,
  rasterizePolygon as rasterisePolygon,
  rasterizePolygons,
  rasterizePolygons as rasterisePolygons,
} from '../masks/polygon.js';
export { decodeMask, encodeMask, makeRle, type Rle, rleArea, rleBox } from '../masks/rle.js';
export type { TruthKind } from '../masks/rle-combine.js';
export { intersectionArea, intersectionOf, rleIou, unionOf } from '../masks/rle-combine.js';
export { decodeRleText, encodeRleText } from '../masks/rle-text.js';
export {
  CHANGE_RULE,
  type ChangeKind,
  type ChangeRule,
  type Changes,
  findChanges,
  type ObjectChange,
  type SeenObject,
} from './changes.js';
export type { CocoId } from './coco-id.js';
export { type CocoAnnotation, type CocoBox, type CocoCategory, type CocoDataset, type CocoImage, parseCocoDataset } from './dataset.js';
export { ERROR_OPTIONS, type ErrorCost, type ErrorOptions, type ErrorSplit, splitErrors } from './errors.js';
export { type CocoFigures, evaluateCoco, summarize, summarize as summarise } from './evaluate.js';
export { COCO_FIGURE_NAMES, type CocoFigureName } from './figure-names.js';
export { ERROR_KINDS, type ErrorKind } from './image-errors.js';
export { type CocoEvaluation, type EvaluatedCategory, measureCoco } from './measure.js';
export { countOddities, type NoteOddity, type OddityCounter, type OddityKind } from './oddities.js';
export { type AreaRange, COCO_PARAMS, type CocoParams, type IouType, splitAreas } from './params.js';
export { listCurves, type PrecisionRecallCurve, type PrecisionRecallCurves } from './precision-recall.js';
export { readCocoDataset, readCocoResults } from './read-files.js';
export { type CocoResult, encodeCocoResults, parseCocoResults } from './results.js';
export { rasterize, rasterize as rasterise, type Segmentation } from './segmentation.js';
export { type ClassFigures, measureSemantic, type SemanticFigures } from './semantic.js';
export { takeImages, takeResults } from './subset.js';
