/** External compilers by description: programs that print what the documentation of Vela and OpenVINO states play the compilers. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type JsonObject, parseJson } from '../../../src/base/json.js';
import { openLogReader } from '../../../stages/toolchain/read-log.js';
import { toolchain } from '../../../stages/toolchain/stage.js';
import { failureOf } from '../../support/error-code.js';
import { parseParams, runStage, temporaryFolder } from '../../support/run-stage.js';
import { isAlive, until } from '../../support/until.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let bin = '';
const before = process.env.PATH;
beforeAll(async () => {
  folder = await temporaryFolder('toolchain');
  bin = join(folder.path, 'bin');
  mkdirSync(bin);
  process.env.PATH = `${bin}${delimiter}${before ?? ''}`;
  writeFileSync(join(folder.path, 'model'), 'a model');
});
afterAll(() => {
  process.env.PATH = before;
  return folder.remove();
});

/** A compiler as a shell script; it gets its arguments as the program would. */
function install(name: string, script: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
}

const run = (params: JsonObject) => runStage(toolchain, { params, inputs: { model: join(folder.path, 'model') }, folder: folder.path });
const readOutput = (path: string | undefined) => parseJson(readFileSync(path ?? '', 'utf8'));

/** The summary of PERFORMANCE.md, and messages of the operator checks, of ethos-u-vela. */
const VELA_LOG = `Info: CUSTOM 'post' is a CPU only op
Warning: FULLY_CONNECTED 'fc' is not supported on the NPU. Placing on CPU instead
 - Per-axis quantization is only supported for the following op types: CONV_2D, DEPTHWISE_CONV_2D
   The following tensor(s) have per-axis quantization parameters: w
Warning: Unsupported TensorFlow Lite semantics for RESHAPE 'shape'. Placing on CPU instead
 - Input(s) and Output tensors must not be dynamic

Network summary for my_network
Accelerator configuration               Ethos_U55_256
Accelerator clock                                 500 MHz

Total SRAM used                                  0.95 KiB
Total Off-chip Flash used                      106.98 KiB

CPU operators = 3 (6.4%)
NPU operators = 44 (93.6%)

Neural network macs                             86952 MACs/batch
Total cycles                                   114098 cycles/batch

Batch Inference time                 0.23 ms, 4382.18 inferences/s (batch size 1)`;

const installVela = (version = '5.1.0', log = VELA_LOG): void =>
  install(
    'vela',
    `if [ "$1" = --version ]; then echo ${version}; exit; fi
[ "$1 $2 $3" = "model.tflite --output-dir output" ] || { echo "wrong arguments: $*"; exit 9; }
cat > /dev/null
cat <<'END'
${log}
END
cp model.tflite output/model_vela.tflite; echo "$4 $5" > output/options.txt`,
  );

describe('vela', () => {
  it('gives findings with operator, node and reason, figures, and what it wrote', async () => {
    installVela();
    const { outputs, log } = await run({ tool: 'vela', version: '5.1.0', options: ['--accelerator-config', 'ethos-u55-256'] });
    expect(readOutput(outputs.report)).toMatchObject({
      format: 'tanren-toolchain/1',
      tool: 'Vela',
      version: '5.1.0',
      command: ['vela', 'model.tflite', '--output-dir', 'output', '--accelerator-config', 'ethos-u55-256'],
      files: ['model_vela.tflite', 'options.txt'],
      findings: [
        { severity: 'refused', operator: 'CUSTOM', node: 'post', count: 1 },
        {
          severity: 'refused',
          operator: 'FULLY_CONNECTED',
          node: 'fc',
          reason:
            'Per-axis quantization is only supported for the following op types: CONV_2D, DEPTHWISE_CONV_2D; The following tensor(s) have per-axis quantization parameters: w',
        },
        { severity: 'refused', operator: 'RESHAPE', node: 'shape', reason: 'Input(s) and Output tensors must not be dynamic' },
      ],
    });
    expect(readOutput(outputs.metrics)).toEqual({
      cpuOperators: 3,
      estimatedCycles: 114098,
      estimatedMs: 0.23,
      findings: { error: 0, note: 0, refused: 3, warning: 0 },
      macs: 86952,
      npuOperators: 44,
      sramKib: 0.95,
    });
    expect(readdirSync(outputs.compiled ?? '')).toEqual(['model_vela.tflite', 'options.txt']);
    expect(readFileSync(join(outputs.compiled ?? '', 'options.txt'), 'utf8')).toBe('--accelerator-config ethos-u55-256\n');
    expect(log).toContain("warning: Vela: refused: Info: CUSTOM 'post' is a CPU only op");
  });

  it('must have the version of the pipeline file, which is part of the key', async () => {
    installVela('5.2.0');
    expect(await failureOf(() => run({ tool: 'vela', version: '5.1.0' }))).toMatchObject({
      code: 'toolchain-version',
      message: 'Vela has version 5.2.0, and the pipeline file states 5.1.0',
      help: 'set `version: 5.2.0`, or install 5.1.0',
    });
    install('vela', 'echo usage: vela; exit 2');
    expect(await failureOf(() => run({ tool: 'vela', version: '5.1.0' }))).toMatchObject({ code: 'toolchain-version' });
  });

  it('is missing where it is not installed', async () => {
    expect((await failureOf(() => run({ tool: 'openvino', version: '2024.4.0' }))).code).toBe('tool-missing');
  });
});

describe('openvino', () => {
  const VERSION = 'if [ "$1" = --version ]; then echo 2024.4.0-16579-c3152d32c9c-releases/2024/4; exit; fi';

  it('gives what it wrote, and its warnings', async () => {
    install(
      'ovc',
      `${VERSION}\necho '[ WARNING ]  a layer is deprecated'; echo '[ SUCCESS ] XML file: output/model.xml'\ntouch "$3.xml" "$3.bin"`,
    );
    const { outputs } = await run({ tool: 'openvino', version: '2024.4.0' });
    expect(readOutput(outputs.report)).toMatchObject({
      files: ['model.bin', 'model.xml'],
      findings: [{ severity: 'warning', reason: 'a layer is deprecated' }],
    });
  });

  it('fails with the operators that it names, whatever its exit code is', async () => {
    install(
      'ovc',
      `${VERSION}\necho 'OpenVINO does not support the following ONNX operations: SequenceEmpty, SequenceInsert' >&2; touch "$3.xml" "$3.bin"`,
    );
    expect(await failureOf(() => run({ tool: 'openvino', version: '2024.4.0' }))).toMatchObject({
      code: 'toolchain-failed',
      message: expect.stringContaining('SequenceEmpty, SequenceInsert'),
    });
  });
});

describe('a compiler of your own', () => {
  const describeIt = (more: JsonObject = {}): JsonObject => ({
    name: 'mine',
    version: { run: ['mycc', '-v'], pattern: 'mycc (?<version>\\S+)' },
    run: ['mycc', '{model}', '{output}/out.bin', '{options}'],
    ...more,
  });
  const VERSION = 'if [ "$1" = -v ]; then echo mycc 7; exit; fi';
  const runIt = (script: string, more: JsonObject = {}, params: JsonObject = {}) => {
    install('mycc', `${VERSION}\n${script}`);
    return run({ describe: describeIt(more), version: '7', ...params });
  };

  it('is run as described', async () => {
    const script = 'cp "$1" "$2"; echo cycles 12; echo cycles 14; echo hello >&2';
    const { outputs, printed } = await runIt(script, { figures: { cycles: '^cycles (?<value>\\d+)$' } });
    for (const line of ['mycc 7', 'cycles 12', 'cycles 14', 'hello']) expect(printed.join('')).toContain(line);
    expect(readFileSync(join(outputs.compiled ?? '', 'out.bin'), 'utf8')).toBe('a model');
    expect(readOutput(outputs.metrics)).toMatchObject({ cycles: 14 });
  });

  it('takes a folder as the model, and may write to it', async () => {
    install('mycc', `${VERSION}\necho changed >> "$1/a"; cat "$1/a" > "$2"`);
    mkdirSync(join(folder.path, 'models'));
    writeFileSync(join(folder.path, 'models/a'), 'part\n');
    const { outputs } = await runStage(toolchain, {
      params: { describe: describeIt(), version: '7' },
      inputs: { model: join(folder.path, 'models') },
      folder: folder.path,
    });
    expect(readFileSync(join(outputs.compiled ?? '', 'out.bin'), 'utf8')).toBe('part\nchanged\n');
    expect(readFileSync(join(folder.path, 'models/a'), 'utf8')).toBe('part\n');
  });

  it.each([
    ['toolchain-failed', 'echo no memory; exit 3', 'mine ended with exit code 3; its last output:\nno memory'],
    ['toolchain-failed', 'kill -9 $$', 'mine ended with signal SIGKILL; it printed nothing'],
    ['toolchain-output', 'rm -rf output', 'mine ended with exit code 0 and did not write a file; it printed nothing'],
    ['toolchain-output', 'rm -rf output; echo x > output', 'mine ended with exit code 0 and did not write a file; it printed nothing'],
    ['toolchain-output', 'echo done', 'mine ended with exit code 0 and did not write a file; its last output:\ndone'],
  ])('fails with %s', async (code, script, message) => {
    expect(await failureOf(() => runIt(script))).toMatchObject({ code, message });
  });

  it('fails where a required file is missing', async () => {
    expect(await failureOf(() => runIt('cp "$1" "$2"', { required: ['*.elf', '*.bin'] }))).toMatchObject({
      code: 'toolchain-output',
      message: expect.stringContaining('did not write *.elf'),
    });
  });

  it('is killed with all that it started after its time', async () => {
    const failure = await failureOf(() => runIt('sleep 300 & echo $! ; sleep 300', {}, { timeoutSeconds: 0.5 }));
    expect(failure).toMatchObject({ code: 'toolchain-timeout', message: expect.stringContaining('mine was killed after 0.5 s') });
    const pid = Number(/output:\n(\d+)/.exec(failure.message)?.[1]);
    expect(pid).toBeGreaterThan(1);
    await until(() => !isAlive(pid));
  });

  it('is refused with patterns that are none, or lack their group', () => {
    const parse = (params: JsonObject) => () => parseParams(toolchain, { version: '7', ...params });
    expect(parse({})).toThrow('set either `tool`');
    expect(parse({ tool: 'vela', describe: describeIt() })).toThrow('set either `tool`');
    expect(parse({ describe: describeIt({ findings: [{ pattern: '(', severity: 'error' }] }) })).toThrow(
      'describe.findings[0].pattern is no regular expression',
    );
    expect(parse({ describe: describeIt({ figures: { a: 'x (\\d+)' } }) })).toThrow('describe.figures.a has no group (?<value>…)');
    expect(parse({ describe: describeIt({ figures: { findings: '(?<value>\\d+)' } }) })).toThrow('has the name of a metric');
    expect(parse({ describe: describeIt({ modelName: '..' }) })).toThrow('describe.modelName cannot be ".."');
    expect(parse({ describe: describeIt({ run: ['mycc', '{model}'] }) })).toThrow('describe.run names no {output}');
  });
});

describe('the log of a compiler', () => {
  const rules = { findings: [{ pattern: '^bad (?<node>\\S+)', severity: 'refused' as const }], figures: {} };

  it('is read in chunks, counts equal lines, and leaves out colors', () => {
    const reader = openLogReader(rules);
    for (const text of ['ba', 'd a\r\nbad b\nbad', ' a\n', '\u001b[31mbad c\u001b[0m']) reader.add('stdout', text);
    expect(reader.end().findings.map(({ node, count }) => [node, count])).toEqual([
      ['a', 2],
      ['b', 1],
      ['c', 1],
    ]);
  });

  it('is bounded in the number of findings and in the length of lines', () => {
    const reader = openLogReader(rules);
    for (let index = 0; index < 6000; index++) reader.add('stdout', `bad ${index}\n`);
    reader.add('stdout', `bad ${'x'.repeat(1e6)}`);
    const { findings, leftOut, counts } = reader.end();
    expect([findings.length, leftOut, counts.refused]).toEqual([5000, 1001, 6001]);
  });

  it('keeps an error behind more findings than it keeps', () => {
    const reader = openLogReader({ ...rules, findings: [...rules.findings, { pattern: '^error', severity: 'error' }] });
    for (let index = 0; index < 5001; index++) reader.add('stdout', `bad ${index}\n`);
    reader.add('stdout', 'error: no memory');
    const { findings, counts } = reader.end();
    expect([findings.at(-1)?.message, counts.error]).toEqual(['error: no memory', 1]);
  });

  it('has lines of one stream each, however the streams are mixed', () => {
    const chunks = [
      ['stdout', 'bad a\nba'],
      ['stderr', 'bad x\nnoi'],
      ['stdout', 'd b\n'],
      ['stderr', 'se\nbad a\n'],
    ] as const;
    const readAll = (order: readonly (typeof chunks)[number][]) => {
      const reader = openLogReader(rules);
      for (const [stream, text] of order) reader.add(stream, text);
      return reader.end();
    };
    const mixed = readAll(chunks);
    expect(mixed.findings.map(({ node, count }) => [node, count])).toEqual([
      ['a', 2],
      ['b', 1],
      ['x', 1],
    ]);
    expect(mixed).toEqual(readAll([...chunks].sort(([a], [b]) => (a < b ? -1 : Number(a > b)))));
  });

  it("joins the further lines of a finding where a line's end is divided", () => {
    const reader = openLogReader({ findings: [{ pattern: '^bad', continued: '^ - ', severity: 'refused' }], figures: {} });
    for (const text of ['bad\r', '\n - why\r', '\n']) reader.add('stdout', text);
    expect(reader.end().findings).toMatchObject([{ reason: 'why' }]);
  });

  it('has no figure where the value is empty or no number', () => {
    const reader = openLogReader({ findings: [], figures: { a: '^a=(?<value>.*)', b: '^b=(?<value>.*)' } });
    reader.add('stdout', 'a=\nb=7\nb=none\n');
    expect(reader.end().figures).toEqual({ b: 7 });
  });
});
