/** The arguments of commands such as `npm run live`. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readOptions, type Usage } from './options.ts'

const USAGE: Usage = {
  command: 'npm run live',
  flags: { record: 'leaves a record', password: 'asks for it' },
}

describe('the arguments of a command', () => {
  it('are options, and names if the command takes any', () => {
    expect(readOptions([], USAGE)).toEqual({ kind: 'run', flags: new Set(), others: [] })
    expect(readOptions(['--record', '--password'], USAGE)).toMatchObject({
      flags: new Set(['record', 'password']),
    })
    expect(readOptions(['inventory', '--record'], { ...USAGE, others: 'NAME …' })).toMatchObject({
      flags: new Set(['record']),
      others: ['inventory'],
    })
  })

  it.each([['--recrod'], ['--record=yes'], ['inventory'], ['-r']])(
    'are refused if one is %s, with a list of the options',
    (argument) => {
      const read = readOptions(['--record', argument], USAGE)
      expect(read).toMatchObject({
        kind: 'refused',
        text: expect.stringContaining('--record     leaves a record'),
      })
    },
  )

  it('are refused if there are two where one is expected', () => {
    const usage = { ...USAGE, others: 'FOLDER' }
    expect(readOptions(['a'], usage)).toMatchObject({ kind: 'run', others: ['a'] })
    expect(readOptions(['a', 'b'], usage)).toEqual({
      kind: 'refused',
      text: expect.stringContaining("Unexpected argument 'b': there can be only one FOLDER."),
    })
    expect(readOptions(['a', 'b'], { ...USAGE, others: 'NAME …' })).toMatchObject({ others: ['a', 'b'] })
  })

  it('can ask for help, even together with other options', () => {
    expect(readOptions(['--record', '--help'], USAGE)).toEqual({
      kind: 'help',
      text: 'npm run live\n  --record     leaves a record\n  --password   asks for it',
    })
  })
})

it.each(['live.ts', 'release.ts', '../e2e/gallery.ts'])(
  '%s does nothing if it gets an unknown option',
  (script) => {
    const { status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, script), '--wrong'], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    expect([status, stderr]).toEqual([2, expect.stringContaining("'--wrong'")])
  },
)
