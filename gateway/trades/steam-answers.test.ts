/** Compares the document of Steam's answers with the code that judges them. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { REFUSALS, type Refusal } from '../db/trade-tables.ts'
import { type HttpResult, sendOutcome } from '../steam/outcomes.ts'
import { at, attempt } from '../testing/trades.ts'
import { judgeRefusal } from './refusal.ts'

const ROOT = join(import.meta.dirname, '../..')
const TEXT = readFileSync(join(ROOT, 'docs/steam-answers.md'), 'utf8')
const [, SENDS = '', OTHERS = ''] = TEXT.split('\n## ')

const rowsOf = (section: string): string[][] =>
  section
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) => line.slice(2, -2).split(' | '))

const plain = (cell = '') => cell.replaceAll('`', '')

/** Returns the answer of Steam that a row's first cell describes. */
function replyOf(text: string): HttpResult {
  const status = /^HTTP (\d+)$/.exec(text)?.[1]
  if (status !== undefined) return { kind: 'reply', status: Number(status), eresult: null, body: null }
  const result = /^result (\d+)$/.exec(text)?.[1]
  const number = `There was an error sending your trade offer.  Please try again later. (${result})`
  const strError = result === undefined ? plain(text) : number
  return { kind: 'reply', status: 500, eresult: null, body: { strError } }
}

const isRefusal = (name: string): name is Refusal => REFUSALS.some((known) => known === name)

/** Refusals that `sendOutcome` never returns. */
const FROM_ELSEWHERE: readonly Refusal[] = [
  'partner_hold',
  'own_hold',
  'out_of_reach',
  'not_taken_up',
  'session_dead',
  'not_our_turn',
]

describe('docs/steam-answers.md', () => {
  const rows = rowsOf(SENDS)

  it.each(rows)('%s is %s', (text = '', name, side, bars, code) => {
    const answer = sendOutcome(replyOf(text))
    if (name === 'unknown') {
      expect(answer.kind).toBe('unknown')
      return
    }
    const refusal = plain(name)
    expect(answer).toEqual({ kind: 'refused', reason: refusal })
    if (!isRefusal(refusal)) return expect.unreachable(`${refusal} is no refusal`)
    const verdict = judgeRefusal(refusal, attempt, at(1))
    const next = { bot: 'move', pair: 'move', unclear: 'move_in_doubt' }[side ?? ''] ?? 'end'
    expect(verdict).toMatchObject({ code: plain(code), next })
    expect(verdict.bars !== null).toBe(side === 'bot')
    expect(bars === 'yes' || bars === 'for the game').toBe(side === 'bot')
  })

  it('lists every refusal of a send', () => {
    const named = rows.map(([, name]) => plain(name))
    expect(
      REFUSALS.filter((refusal) => !named.includes(refusal) && !FROM_ELSEWHERE.includes(refusal)),
    ).toEqual([])
  })

  it.each(rowsOf(OTHERS))('the row “%s” names an existing test', (_said, _does, _seen, test = '') => {
    const [, file = '', title = ''] = /^`(.+?)`: (.+)$/.exec(test) ?? []
    const path = join(ROOT, file)
    expect(existsSync(path), path).toBe(true)
    expect(readFileSync(path, 'utf8').replaceAll("\\'", "'")).toContain(title)
  })
})
