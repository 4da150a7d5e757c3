/** `tanren estimate show REPORT`: the layers of compiled models with work, bound and share of the estimated time, and a trace of them. */
import { traceEstimates } from '../../../target/estimate/chrome-trace.js';
import { TargetError } from '../../../target/report/target-error.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { writeFiles } from '../../process/write-files.js';
import { formatLayers, formatTraceLines, layersOf } from '../../render/estimate-report.js';
import { makeConsole } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';
import { readEstimateFile } from './estimate-files.js';

export interface EstimateShowOptions {
  readonly json: boolean;
  readonly all: boolean;
  /** Where to write the trace. */
  readonly trace?: string;
}

export async function runEstimateShow(path: string, options: EstimateShowOptions): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  try {
    const file = await readEstimateFile(path);
    if (file.kind !== 'compile')
      throw new TargetError('estimate-file', `${path} is measured; layers are estimated`, { help: 'name the report of a compile stage' });
    const { report } = file;
    const models = layersOf(report);
    if (options.trace !== undefined) {
      const text = `${JSON.stringify(traceEstimates(report))}\n`;
      await writeFiles([{ path: options.trace, write: handle => handle.writeFile(text) }]);
    }
    if (options.json) console.json({ what: 'estimate', target: report.target, models });
    else {
      for (const line of formatLayers(report.target, models, { show: options.all ? 'all' : 'some', style: console.style }))
        console.line(line);
      for (const line of formatTraceLines(options.trace)) console.line(line);
    }
    return EXIT.built;
  } catch (error) {
    return endWithError(error, console, options, EXIT.usage);
  }
}
