/** The configurations of a sweep: every combination of the axes' values, the first axis changing slowest. */
import type { Json } from '../../base/json.js';
import type { SettingOverride } from '../planning/override-settings.js';
import type { Axis, AxisValue } from './resolve-axis.js';

export interface Configuration {
  /** From 1, in the order of the combinations. */
  readonly number: number;
  /** One value per axis, in the order of the axes. */
  readonly values: readonly AxisValue[];
  /** Its parameters, as `-p` takes them. */
  readonly assignments: readonly string[];
  readonly settings: readonly SettingOverride[];
}

export const MAX_CONFIGURATIONS = 1_000;

export function countConfigurations(axes: readonly Axis[]): number {
  return axes.reduce((product, { values }) => product * values.length, 1);
}

export function combine(axes: readonly Axis[]): readonly Configuration[] {
  let rows: readonly (readonly AxisValue[])[] = [[]];
  for (const { values } of axes) rows = rows.flatMap(row => values.map(value => [...row, value]));
  return rows.map((values, index) => {
    const pairs = axes.flatMap((axis, position) => {
      const value = values[position];
      return value === undefined ? [] : [{ axis, value: value.value }];
    });
    return {
      number: index + 1,
      values,
      assignments: pairs.flatMap(({ axis, value }) => (axis.kind === 'param' ? [`${axis.param}=${assignable(value)}`] : [])),
      settings: pairs.flatMap(({ axis, value }) => (axis.kind === 'setting' ? [{ target: axis.target, path: axis.path, value }] : [])),
    };
  });
}

function assignable(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
