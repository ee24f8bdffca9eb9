import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { count, defineProof, flag, keepFlag } from './proof.ts'
import { type Entry, prove } from './prove.ts'

const RESULT = 'proofs/results/dice.json'

/** A clean repository with one commit. */
function aRepository() {
  const root = mkdtempSync(join(tmpdir(), 'prove-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.test', ...args], {
      cwd: root,
      encoding: 'utf8',
    })
  git('init', '-q')
  writeFileSync(join(root, 'source.ts'), 'one\n')
  git('add', '.')
  git('commit', '-qm', 'begin')
  return { root, git, commit: git('rev-parse', 'HEAD').trim() }
}

type Given = { rounds: number; loaded: boolean; keep: boolean }

/** The command with one proof; `runs` collects the options of each run. */
function aCommand({ root = '/nowhere', passed = true, isOneOfMany = false, during = () => {} } = {}) {
  const runs: Given[] = []
  const lines: string[] = []
  const options = z
    .object({
      rounds: count(200, 'how many throws'),
      loaded: flag('use loaded dice'),
      keep: keepFlag(),
    })
    .refine(({ keep, loaded }) => !keep || !loaded, { path: ['keep'], message: 'loaded dice prove nothing' })
  const dice = defineProof({
    options,
    async run(given) {
      runs.push(given)
      during()
      return { passed, result: { name: 'dice', content: { sum: 7 }, isOneOfMany } }
    },
  })
  const proofs: Record<string, Entry> = { dice: { about: 'throws dice', load: async () => dice } }
  const call = (...args: string[]) => prove(args, { proofs, root, print: (line) => void lines.push(line) })
  return { call, runs, output: () => lines.join('\n') }
}

describe('npm run prove', () => {
  it.each([{ args: [] }, { args: ['--help'] }])(
    'lists the proofs with their options and runs none, given $args',
    async ({ args }) => {
      const { call, runs, output } = aCommand()
      expect(await call(...args)).toBe(0)
      expect(output()).toMatch(/dice: throws dice\n {2}--rounds +how many throws \(200\)/)
      expect(runs).toEqual([])
    },
  )

  it('lists the options of one proof', async () => {
    const { call, runs, output } = aCommand()
    expect(await call('dice', '--help')).toBe(0)
    expect(output()).toContain('--keep')
    expect(runs).toEqual([])
  })

  it('runs the named proof with its options', async () => {
    const { call, runs } = aCommand()
    expect(await call('dice', '--rounds', '3', '--loaded')).toBe(0)
    expect(await call('dice')).toBe(0)
    expect(runs).toEqual([
      { rounds: 3, loaded: true, keep: false },
      { rounds: 200, loaded: false, keep: false },
    ])
  })

  it('exits with 1 if the proof failed', async () => {
    expect(await aCommand({ passed: false }).call('dice')).toBe(1)
  })

  it.each([
    [['cards'], 'There is no proof cards, only dice'],
    [['toString'], 'There is no proof toString, only dice'],
    [['dice', '--rounds', '0'], '--rounds: must be a whole number of 1 or more'],
    [['dice', '--rounds', 'many'], '--rounds: must be a whole number of 1 or more'],
    [['dice', '--turns', '3'], "Unknown option '--turns'"],
    [['dice', '--keep', '--loaded'], '--keep: loaded dice prove nothing'],
  ])('refuses %s with exit code 2 before anything runs', async (args, why) => {
    const { call, runs, output } = aCommand()
    expect(await call(...args)).toBe(2)
    expect(output()).toContain(why)
    expect(runs).toEqual([])
  })
})

describe('a result', () => {
  it('is not kept without --keep', async () => {
    const { root } = aRepository()
    expect(await aCommand({ root }).call('dice')).toBe(0)
    expect(existsSync(join(root, RESULT))).toBe(false)
  })

  it('is kept with the commit that ran, even if the proof failed', async () => {
    const { root, commit } = aRepository()
    const { call, output } = aCommand({ root, passed: false })
    expect(await call('dice', '--keep')).toBe(1)
    expect(JSON.parse(readFileSync(join(root, RESULT), 'utf8'))).toMatchObject({
      proof: 'dice',
      commit,
      sum: 7,
    })
    expect(output()).toBe(`written to ${RESULT}`)
  })

  it('of a proof that keeps all its runs is added to the earlier results, each with its commit', async () => {
    const { root, git, commit } = aRepository()
    expect(await aCommand({ root, isOneOfMany: true }).call('dice', '--keep')).toBe(0)
    git('add', '.')
    git('commit', '-qm', 'keep')
    expect(await aCommand({ root, isOneOfMany: true, passed: false }).call('dice', '--keep')).toBe(1)
    expect(JSON.parse(readFileSync(join(root, RESULT), 'utf8'))).toMatchObject({
      proof: 'dice',
      runs: [
        { commit, sum: 7 },
        { commit: git('rev-parse', 'HEAD').trim(), sum: 7 },
      ],
    })
  })

  it.each(['source.ts', 'another.ts'])(
    'is not kept if %s is not committed: the command refuses to run the proof',
    async (file) => {
      const { root } = aRepository()
      writeFileSync(join(root, file), 'two\n')
      const { call, runs, output } = aCommand({ root })
      expect(await call('dice', '--keep')).toBe(2)
      expect(output()).toMatch(new RegExp(`--keep needs a clean git tree[^]*${file}`))
      expect(runs).toEqual([])
    },
  )

  it('is not kept outside a repository: the command refuses to run the proof', async () => {
    const root = mkdtempSync(join(tmpdir(), 'prove-'))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    const { call, runs, output } = aCommand({ root })
    expect(await call('dice', '--keep')).toBe(2)
    expect(output()).toContain('--keep needs a git repository')
    expect(runs).toEqual([])
  })

  it('is not kept if the sources or the commit changed during the run', async () => {
    const { root, git } = aRepository()
    const changed = aCommand({ root, during: () => writeFileSync(join(root, 'source.ts'), 'two\n') })
    expect(await changed.call('dice', '--keep')).toBe(2)
    git('checkout', '-q', '.')
    const moved = aCommand({ root, during: () => git('commit', '-q', '--allow-empty', '-m', 'more') })
    expect(await moved.call('dice', '--keep')).toBe(2)
    expect(moved.output()).toContain('another commit')
    expect(existsSync(join(root, RESULT))).toBe(false)
  })
})

describe('the proofs of this project', () => {
  it('are listed by `npm run prove`, each with --keep', () => {
    const printed = execFileSync(process.execPath, [join(import.meta.dirname, 'prove.ts')], {
      encoding: 'utf8',
    })
    const names = [...printed.matchAll(/^([\w-]+): /gm)].map(([, name]) => name)
    expect(names).toEqual([
      'simulate',
      'night',
      'defects',
      'kill',
      'failover',
      'cut',
      'restore',
      'rolling',
      'year',
      'sale',
      'sales',
      'kill-sales',
      'deploy',
      'recipes',
      'engines',
      'attacks',
      'mutate',
    ])
    expect(printed.match(/^ {2}--keep /gm)).toHaveLength(names.length)
  })
})
