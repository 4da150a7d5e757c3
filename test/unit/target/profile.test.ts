/** Target profiles: complete, refused, narrowed to a choice. */
import type { Json } from '../../../src/base/json.js';
import { REWRITE_RULES } from '../../../src/onnx/rules/rule-table.js';
import { BUILT_IN_PROFILES } from '../../../src/target/profile/built-in-profiles.js';
import { chooseTarget, getBuiltInProfile, type TargetChoice } from '../../../src/target/profile/choose-target.js';
import { parseIntegerSet } from '../../../src/target/profile/integer-set.js';
import { readProfile } from '../../../src/target/profile/profile-reader.js';
import { failureOf } from '../../support/error-code.js';

/** The members that tests change in a profile. */
interface Draft {
  title?: string;
  format: string;
  readonly graph: Record<string, unknown>;
  limits: Record<string, unknown>[];
  readonly devices: Record<string, Record<string, unknown>>;
  readonly dtypes: Record<string, Record<string, unknown>>;
}

/** A copy of ryzen-ai that `edit` may change. */
function edited(edit: (profile: Draft) => void): Json {
  const profile = structuredClone(getBuiltInProfile('ryzen-ai')) as unknown as Draft;
  edit(profile);
  return profile as unknown as Json;
}

const choose = (json: Json, choice: TargetChoice = {}) => failureOf(() => chooseTarget(json, choice));

describe('the built-in profiles', () => {
  it.each(Object.keys(BUILT_IN_PROFILES))('%s is complete for each of its devices, data types and versions', name => {
    const json = getBuiltInProfile(name);
    const read = readProfile(json);
    if (read.kind !== 'ok') throw new Error(JSON.stringify(read.problems));
    let chosen = 0;
    const { devices, dtypes, versions } = read.value;
    const age = (version = ''): number => versions.indexOf(version);
    for (const device of Object.keys(devices)) {
      for (const [dtype, { devices: on }] of Object.entries(dtypes)) {
        for (const version of versions) {
          const since = [devices[device]?.since.value ?? '', dtypes[dtype]?.since.value ?? ''];
          if (!on.value.includes(device) || since.some(first => age(first) > age(version))) continue;
          const last = devices[device]?.until?.value ?? versions.at(-1);
          if (age(version) > age(last)) continue;
          expect(chooseTarget(json, { device, dtype, version }).identity).toMatchObject({ profile: name, device, dtype, version });
          chosen++;
        }
      }
    }
    expect(chosen).toBeGreaterThan(0);
  });

  it('have a URL or a page of this project for each source', () => {
    for (const json of Object.values(BUILT_IN_PROFILES)) {
      const { sources } = json as { sources: Record<string, { ref: string }> };
      for (const { ref } of Object.values(sources)) expect(ref).toMatch(/^(https:\/\/|docs\/)/);
    }
  });

  it('have bounds around the value of every estimate constant', () => {
    for (const json of Object.values(BUILT_IN_PROFILES)) {
      const read = readProfile(json);
      if (read.kind !== 'ok') throw new Error('a profile is no profile');
      for (const { estimate } of Object.values(read.value.devices)) {
        for (const { low, value, high } of [estimate.peak, ...Object.values(estimate.efficiency), estimate.bandwidth, estimate.fixedMs]) {
          expect([low <= value, value <= high]).toEqual([true, true]);
        }
      }
    }
  });
});

describe('an incomplete profile', () => {
  it.each<readonly [string, (profile: Draft) => void, string]>([
    ['lacks the smallest number of Conv', profile => delete profile.graph.minConvs, 'graph.minConvs: should be an object, it is missing'],
    ['has a limit without its source', profile => delete profile.limits[0]?.source, 'limits[0].source: should be text, it is missing'],
    [
      'names a source that it does not have',
      profile => Object.assign(profile.limits[0] ?? {}, { source: 'aie2pp' }),
      'limits[0].source: names "aie2pp", which the profile does not have; did you mean "aie2p"?',
    ],
    [
      'names an unknown rewrite rule',
      profile => Object.assign(profile.limits[0] ?? {}, { fixIts: ['max-pool'] }),
      'limits[0].fixIts: names "max-pool", which the profile does not have',
    ],
    [
      'has sizes that are none',
      profile => Object.assign(profile.limits[0] ?? {}, { allowed: '1..9' }),
      'limits[0].allowed: should be integers such as "1-9" or "1,2,4", it is "1..9"',
    ],
    [
      'has an unknown rule',
      profile => Object.assign(profile.limits[0] ?? {}, { rule: 'kernels' }),
      'limits[0].rule: should be "kernel" or',
    ],
    [
      'has a constant outside of its bounds',
      profile => Object.assign((profile.devices['stx-krk'] as { estimate: { fixedMs: object } }).estimate.fixedMs, { low: 3, value: 1 }),
      'devices.stx-krk.estimate.fixedMs: should be within its bounds: 3 ≤ 1 ≤ 1.58',
    ],
    [
      'is of another format',
      profile => Object.assign(profile, { format: 'tanren-target-profile/9' }),
      'format: should be "tanren-target-profile/1"',
    ],
    [
      'counts from a version that it does not have',
      profile =>
        Object.assign(profile.devices, {
          'stx-krk': { ...profile.devices['stx-krk'], since: { value: '2.0', source: 'amdxdna' } },
        }),
      'devices.stx-krk.version: names "2.0", which the profile does not have',
    ],
  ])('%s: is refused with the place of the problem', async (_name, edit, expected) => {
    const { code, message } = await choose(edited(edit));
    expect(code).toBe('profile-malformed');
    expect(message).toContain(expected);
  });

  it('is refused with all problems at once', async () => {
    const { message } = await choose(
      edited(profile => {
        Object.assign(profile.limits[0] ?? {}, { allowed: 3 });
        delete profile.title;
      }),
    );
    expect(message).toContain('limits[0].allowed');
    expect(message).toContain('title');
  });

  it('without a window limit for the chosen device is refused with operator and limit', async () => {
    const without = edited(profile => Object.assign(profile, { limits: profile.limits.filter(limit => limit.rule !== 'stride') }));
    const { code, message } = await choose(without);
    expect(code).toBe('profile-limit-missing');
    expect(message).toContain('a limit "stride" for Conv, a limit "stride" for DepthwiseConv, a limit "stride" for MaxPool');
  });

  it('has the first largest number of parts that applies to the choice, and is refused without one', async () => {
    const partsOf = (choice: TargetChoice) => chooseTarget(getBuiltInProfile('ryzen-ai'), choice).graph.maxSubgraphs.value;
    expect([partsOf({ version: '1.6' }), partsOf({ version: '1.5.1' }), partsOf({ device: 'phx-hpt', version: '1.6' })]).toEqual([
      93, 32, 32,
    ]);
    const early = edited(profile => {
      profile.graph.maxSubgraphs = [{ value: 4, source: 'assumed', when: { to: '1.4' } }];
    });
    const { code, message } = await choose(early);
    expect([code, message]).toEqual(['profile-limit-missing', 'target profile ryzen-ai lacks graph.maxSubgraphs for version 1.8']);
  });

  it('with power-of-two scales but without position bounds is refused for the chosen data type', async () => {
    const without = edited(profile => delete profile.dtypes.xint8?.positions);
    const { code, message } = await choose(without, { dtype: 'xint8' });
    expect(code).toBe('profile-limit-missing');
    expect(message).toContain('the bounds "positions" of data type xint8');
    expect(chooseTarget(without, { dtype: 'a8w8' }).identity.dtype).toBe('a8w8');
  });
});

describe('a choice', () => {
  it.each<readonly [TargetChoice, string, string]>([
    [{ device: 'stx' }, 'unknown-device', 'unknown device "stx"'],
    [{ dtype: 'xint16' }, 'unknown-dtype', 'unknown data type "xint16"'],
    [{ version: '1.9' }, 'unknown-version', 'unknown version "1.9"'],
    [{ device: 'phx-hpt', dtype: 'a8w8' }, 'target-combination', 'data type a8w8 is not documented for device phx-hpt'],
    [{ device: 'phx-hpt', version: '1.8' }, 'target-combination', 'version 1.8 does not support device phx-hpt'],
    [{ device: 'stx-krk', version: '1.1' }, 'target-combination', 'device stx-krk requires version 1.2, but the chosen version is 1.1'],
  ])('%j fails with %s', async (choice, code, message) => {
    const failure = await choose(getBuiltInProfile('ryzen-ai'), choice);
    expect(failure.code).toBe(code);
    expect(failure.message).toContain(message);
  });

  it('of an unknown target is refused with the known ones', async () => {
    expect(await failureOf(() => getBuiltInProfile('ryzen-a1'))).toMatchObject({
      code: 'unknown-target',
      message: 'unknown target "ryzen-a1"',
    });
    expect(await failureOf(() => getBuiltInProfile('constructor'))).toMatchObject({ code: 'unknown-target' });
  });

  it('narrows limits to the device: AIE2 has strides 1, 2 and 4, AIE2P 1 to 4', () => {
    const stride = (device: string) =>
      chooseTarget(getBuiltInProfile('ryzen-ai'), { device }).limits.flatMap(limit =>
        limit.rule === 'stride' && limit.ops.includes('Conv') ? [limit.allowed] : [],
      );
    expect([stride('phx-hpt'), stride('stx-krk')]).toEqual([['1,2,4'], ['1-4']]);
  });

  it('has the digest of the profile, so that another limit is another target', () => {
    const digest = (json: Json) => chooseTarget(json, {}).identity.digest;
    expect(digest(edited(() => undefined))).toBe(digest(getBuiltInProfile('ryzen-ai')));
    expect(digest(edited(profile => Object.assign(profile.limits[0] ?? {}, { allowed: '1-8' })))).not.toBe(
      digest(getBuiltInProfile('ryzen-ai')),
    );
  });
});

describe('rewrite rules that profiles name', () => {
  it('exist', () => {
    const names: string[] = REWRITE_RULES.map(rule => rule.name);
    const found = JSON.stringify(BUILT_IN_PROFILES).match(/"fixIts":\[[^\]]*\]/g) ?? [];
    const named = found.flatMap(text => [...text.matchAll(/"([a-z0-9-]+)"/g)].map(match => match[1] ?? ''));
    expect(new Set(named)).toEqual(
      new Set(['maxpool-1x1', 'conv-transpose-depth-to-space', 'sigmoid-hard', 'silu-hard-swish', 'split-slice']),
    );
    for (const name of named) expect(names).toContain(name);
  });
});

describe('sets of integers', () => {
  it.each([
    ['1-9', [1, 5, 9], [0, 10], '1 to 9'],
    ['1, 2,4', [1, 2, 4], [3, 5], '1, 2 or 4'],
    ['0-0', [0], [1], '0'],
  ])('%s', (text, inside, outside, said) => {
    const set = parseIntegerSet(text);
    expect(inside.every(value => set?.has(value))).toBe(true);
    expect(outside.some(value => set?.has(value))).toBe(false);
    expect(set?.text).toBe(said);
  });

  it.each(['', '9-1', '1-', '-1', 'a', '1;2'])('%j is not a set', text => {
    expect(parseIntegerSet(text)).toBeUndefined();
  });
});
