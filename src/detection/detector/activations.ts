/** Softmax and sigmoid in float32, as in PyTorch. */

const { fround } = Math;

/** Softmax over rows of `classes` logits; a new array. Subtracts the largest logit first to avoid overflow. */
export function softmaxRows(logits: Float32Array, classes: number): Float32Array {
  const probabilities = new Float32Array(logits.length);
  for (let row = 0; row < logits.length; row += classes) {
    let largest = Number.NEGATIVE_INFINITY;
    for (let i = row; i < row + classes; i++) largest = Math.max(largest, logits[i] as number);
    let sum = 0;
    for (let i = row; i < row + classes; i++) {
      const value = fround(Math.exp(fround((logits[i] as number) - largest)));
      probabilities[i] = value;
      sum += value;
    }
    for (let i = row; i < row + classes; i++) probabilities[i] = (probabilities[i] as number) / sum;
  }
  return probabilities;
}

/** 1 / (1 + e⁻ˣ); a new array. */
export function sigmoid(logits: Float32Array): Float32Array {
  const probabilities = new Float32Array(logits.length);
  for (let i = 0; i < probabilities.length; i++) probabilities[i] = 1 / (1 + Math.exp(-(logits[i] as number)));
  return probabilities;
}
