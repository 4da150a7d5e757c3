/**
 * What the terms in heads of columns mean: the same explanation in the report and in the views of the live page. Only terms with one meaning everywhere are
 * here; a column that says more or something else has its own hint.
 */

const HINTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    // Accuracy
    AP: 'Average precision, the mean over IoU .50 to .95',
    AP50: 'Average precision at IoU .50',
    AP75: 'Average precision at IoU .75',
    APsmall: 'Average precision of objects below 32² pixels',
    APmedium: 'Average precision of objects from 32² to 96² pixels',
    APlarge: 'Average precision of objects above 96² pixels',
    AR1: 'Average recall with at most 1 detection per image',
    AR10: 'Average recall with at most 10 detections per image',
    AR100: 'Average recall with at most 100 detections per image',
    ARsmall: 'Average recall of objects below 32² pixels',
    ARmedium: 'Average recall of objects from 32² to 96² pixels',
    ARlarge: 'Average recall of objects above 96² pixels',
    dAP: 'Average precision that would be gained if this kind of error alone were corrected',
    'Box IoU': 'Area that both boxes share over the area that they cover together',
    // Errors
    'SQNR (dB)': 'Power of the signal over the power of the error, 10·log10: 6 dB are about one bit',
    SQNR: 'Power of the signal over the power of the error, in dB: 6 dB are about one bit',
    'Own (dB)': 'SQNR of the value quantized alone',
    'Own SQNR (dB)': 'SQNR of the value quantized alone',
    'Propagated (dB)': 'SQNR of the value in the quantized model: with the errors of everything before it',
    Cosine: 'Cosine of the angle between both values as vectors: 1 where they differ by a positive factor alone',
    'Largest difference': 'Largest absolute difference of two elements',
    // Quantization
    'Data range': 'Least and largest value of the calibration images',
    'Zero point': 'The integer that represents 0',
    Saturated: 'Share of the calibration values outside of the range',
    // Compile
    MACs: 'Multiply-accumulate operations',
    'MACs on the NPU': 'Share of the multiply-accumulate operations that run on the NPU',
    'On the NPU': 'Share of the multiply-accumulate operations that run on the NPU',
    Arena: 'Memory that holds all activations of a part at their offsets',
    'Most is live at': 'The node at which most memory is in use',
    'Bound by': 'What limits the estimate: arithmetic, memory traffic, or a fixed time per layer',
    'Lower bound': 'The lower end of the interval of the estimate',
    'Upper bound': 'The upper end of the interval of the estimate',
    'Estimate (ms)': 'By the latency model of the target; not measured',
    Estimate: 'By the latency model of the target; not measured',
    // Latency
    p50: 'Half of the runs took at most this long',
    p90: '90 % of the runs took at most this long',
    p99: '99 % of the runs took at most this long',
    'Padded RoIs': 'RoIs that were computed only to fill the last batch',
    'Speedup of int8': 'Time of float over time of int8, both on this CPU',
  }),
);

/** @param title the text of the head. */
export function findColumnHint(title: string): string | undefined {
  return HINTS.get(title.trim());
}
