/** Saves the objects that the filters keep as a file, for scripts and spreadsheets. */
import type { Filtered } from './filter-rows.js';
import { listObjects } from './object-list.js';
import type { MatchResult } from './result-types.js';

interface ExportProps {
  readonly result: MatchResult;
  readonly filtered: Filtered;
}

export function ExportButton({ result, filtered }: ExportProps) {
  const save = (): void => {
    const address = URL.createObjectURL(new Blob([listObjects(result, filtered)], { type: 'text/csv' }));
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
