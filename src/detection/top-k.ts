/** Which are the largest scores? */

/** Indices of all scores, largest first; equal ones in their order. NaN counts as smallest. */
export function sortByScore(scores: Float32Array): Int32Array {
  return sortIndices(Int32Array.from(scores.keys()), scores);
}

/** Indices of the `k` largest scores (all where there are fewer), largest first; of equal ones the first come first. NaN counts as smallest. */
export function topK(scores: Float32Array, k: number): Int32Array {
  if (k >= scores.length) return sortByScore(scores);
  if (k <= 0) return new Int32Array(0);
  return sortIndices(Int32Array.from(atLeastKth(scores, k)), scores).subarray(0, k);
}

/** The indices of all scores that are not below the k-th largest: the candidates among which ties are settled. */
function atLeastKth(scores: Float32Array, k: number): number[] {
  const ascending = scores.map(score => (Number.isNaN(score) ? Number.NEGATIVE_INFINITY : score)).sort();
  const kth = ascending[ascending.length - k] as number;
  const candidates: number[] = [];
  for (let i = 0; i < scores.length; i++) if ((scores[i] as number) >= kth || kth === Number.NEGATIVE_INFINITY) candidates.push(i);
  return candidates;
}

function sortIndices(indices: Int32Array, scores: Float32Array): Int32Array {
  const key = (index: number) => {
    const score = scores[index] as number;
    return Number.isNaN(score) ? Number.NEGATIVE_INFINITY : score;
  };
  return indices.sort((a, b) => {
    const [scoreA, scoreB] = [key(a), key(b)];
    return scoreA === scoreB ? a - b : scoreB - scoreA;
  });
}
