/** Levenberg and Marquardt's method for small problems of nonlinear least squares. */

export interface LeastSquares {
  readonly solution: readonly number[];
  /** One standard error per parameter, from the curvature at the solution; residuals must have unit variance. */
  readonly errors: readonly number[];
}

const MAX_STEPS = 100;
const DIFFERENCE = 1e-5;

/** Minimizes the sum of squares of `residuals` from `start`. The result depends on nothing else: no time, no random numbers. */
export function minimizeSquares(residuals: (parameters: readonly number[]) => readonly number[], start: readonly number[]): LeastSquares {
  let best = { at: start, residuals: residuals(start) };
  let damping = 1e-2;
  for (let step = 0; step < MAX_STEPS && damping < 1e8; ) {
    const { matrix, slope } = linearize(residuals, best.at, best.residuals);
    const cost = squares(best.residuals);
    let accepted = false;
    while (!accepted && damping < 1e8) {
      const by = damping;
      const damped = matrix.map((row, i) => row.map((value, j) => (i === j ? value * (1 + by) + 1e-12 : value)));
      const change = solve(damped, slope);
      const at = best.at.map((value, index) => value - (change[index] ?? 0));
      const next = residuals(at);
      accepted = squares(next) < cost;
      if (accepted) best = { at, residuals: next };
      damping = accepted ? Math.max(1e-9, damping / 5) : damping * 5;
    }
    step = cost - squares(best.residuals) < 1e-10 * cost ? MAX_STEPS : step + 1;
  }
  const { matrix } = linearize(residuals, best.at, best.residuals);
  const errors = best.at.map((_, index) =>
    Math.sqrt(
      Math.max(
        0,
        solve(
          matrix,
          best.at.map((_one, at) => Number(at === index)),
        )[index] ?? 0,
      ),
    ),
  );
  return { solution: best.at, errors };
}

/** JᵀJ and Jᵀr, with the Jacobian by forward differences. */
function linearize(
  residuals: (parameters: readonly number[]) => readonly number[],
  at: readonly number[],
  now: readonly number[],
): { readonly matrix: readonly (readonly number[])[]; readonly slope: readonly number[] } {
  const columns = at.map((_, index) => {
    const moved = residuals(at.map((value, other) => (other === index ? value + DIFFERENCE : value)));
    return moved.map((value, row) => (value - (now[row] ?? 0)) / DIFFERENCE);
  });
  return { matrix: columns.map(a => columns.map(b => dot(a, b))), slope: columns.map(column => dot(column, now)) };
}

/** Gaussian elimination with partial pivoting; a singular direction stays 0. */
export function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, index) => [...row, right[index] ?? 0]);
  const size = rows.length;
  for (let column = 0; column < size; column++) {
    const pivot = rows.reduce(
      (found, row, index) => (index > column && sizeAt(row, column) > sizeAt(rows[found], column) ? index : found),
      column,
    );
    const [chosen, current] = [rows[pivot] ?? [], rows[column] ?? []];
    rows[column] = chosen;
    rows[pivot] = current;
    for (let below = column + 1; below < size; below++) {
      const row = rows[below] ?? [];
      const share = (row[column] ?? 0) / (chosen[column] ?? 1);
      if (share !== 0 && Number.isFinite(share)) rows[below] = row.map((value, index) => value - share * (chosen[index] ?? 0));
    }
  }
  const solution = rows.map(() => 0);
  for (let index = size - 1; index >= 0; index--) {
    const row = rows[index] ?? [];
    const rest = solution.reduce((sum, value, other) => (other > index ? sum + value * (row[other] ?? 0) : sum), 0);
    const value = ((row[size] ?? 0) - rest) / (row[index] ?? 0);
    solution[index] = Number.isFinite(value) ? value : 0;
  }
  return solution;
}

function sizeAt(row: readonly number[] | undefined, column: number): number {
  return Math.abs(row?.[column] ?? 0);
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
}

function squares(values: readonly number[]): number {
  return dot(values, values);
}
