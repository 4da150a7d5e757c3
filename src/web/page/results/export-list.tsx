/** Saves the objects that the filters keep as a file, for scripts and spreadsheets. */
import type { FilteredRow } from './filter-rows.js';
import { listObjects } from './object-list.js';
import type { MatchResult } from './result-types.js';

interface ExportProps {
  readonly rows: readonly FilteredRow[];
  readonly categories: MatchResult['categories'];
}

export function ExportButton({ rows, categories }: ExportProps) {
  const save = (): void => {
    const address = URL.createObjectURL(new Blob([listObjects(rows, categories)], { type: 'text/csv' }));
    const link = document.createElement('a');
    link.href = address;
    link.download = 'objects.csv';
    link.click();
    URL.revokeObjectURL(address);
  };
  return (
    <button type="button" onClick={save} title="The objects of these images as comma-separated values">
      Export the list
    </button>
  );
}
