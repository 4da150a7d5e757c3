/** Decision records are numbered without gaps, and each states its number in its title. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = 'docs/decisions';
const records = readdirSync(FOLDER).sort();

it('are numbered from 1 without gaps', () => {
  expect(records.map(name => name.slice(0, 5))).toEqual(records.map((_, index) => `${String(index + 1).padStart(4, '0')}-`));
});

it.each(records)('%s states its number in its title', name => {
  expect(readFileSync(join(FOLDER, name), 'utf8')).toMatch(new RegExp(`^# ${Number(name.slice(0, 4))}\\. \\S`));
});
