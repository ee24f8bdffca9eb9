import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { BAD_DAYS } from './bad-days/bad-days.ts'
import { BOT_BAD_DAYS } from './pages/bots.ts'
import { MAGIC_PLAYERS, PEOPLE } from './world/people.ts'

const textOf = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')
const readme = textOf('README.md')

it('the README lists every call of the control API, and no other', () => {
  const listed = [...readme.matchAll(/^\| `(\w+ \/control\/[^`]*)` \|/gm)].map((match) => match[1] ?? '')
  const calls = [...textOf('routes/control.ts').matchAll(/'(\w+ \/control\/\w+)'/g)].map((match) => match[1])
  const changes = [...textOf('routes/changes.ts').matchAll(/^ {2}'(\w+) (\w+) (\w*)':/gm)]
  const plain = (call: string) => call.replace(/\{\w+\}/, '*')
  const served = changes.map(
    ([, method, noun, verb]) => `${method} /control/${noun}/*${verb ? `/${verb}` : ''}`,
  )
  expect(listed.map(plain).sort()).toEqual([...calls, ...served].sort())
})

it('the README lists every magic player, and no other', () => {
  const listed = [...readme.matchAll(/^\| `(magic_\w+)` \|/gm)].map((match) => match[1])
  expect(listed).toEqual(MAGIC_PLAYERS.map(({ name }) => name))
})

it('the README lists every bad day of a single bot, and only behaviours that exist', () => {
  const [, table = ''] = /## Bad days\n(.*?)\n## /s.exec(readme) ?? []
  const listed = [...table.matchAll(/`([a-z]+(?:-[a-z0-9]+)+)`/g)].map((match) => match[1] ?? '')
  const behaviours = Object.keys({ ...BAD_DAYS, ...PEOPLE })
  expect(listed.filter((name) => !behaviours.includes(name))).toEqual([])
  expect(BOT_BAD_DAYS.filter((name) => !listed.includes(name))).toEqual([])
  expect(BOT_BAD_DAYS.filter((name) => !behaviours.includes(name))).toEqual([])
})
