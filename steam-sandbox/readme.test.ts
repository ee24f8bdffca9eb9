import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { BAD_DAYS } from './bad-days/bad-days.ts'
import { MISFORTUNES } from './pages/bots.ts'
import { MAGIC_PLAYERS, PEOPLE } from './world/people.ts'

const textOf = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')
const readme = textOf('README.md')

it('the README lists every call of the control API, and no other', () => {
  const told = [...readme.matchAll(/^\| `(\w+ \/control\/[^`]*)` \|/gm)].map((match) => match[1] ?? '')
  const calls = [...textOf('routes/control.ts').matchAll(/'(\w+ \/control\/\w+)'/g)].map((match) => match[1])
  const acts = [...textOf('routes/acts.ts').matchAll(/^ {2}'(\w+) (\w+) (\w*)':/gm)]
  const plain = (call: string) => call.replace(/\{\w+\}/, '*')
  const served = acts.map(([, method, noun, verb]) => `${method} /control/${noun}/*${verb ? `/${verb}` : ''}`)
  expect(told.map(plain).sort()).toEqual([...calls, ...served].sort())
})

it('the README lists every magic player, and no other', () => {
  const told = [...readme.matchAll(/^\| `(magic_\w+)` \|/gm)].map((match) => match[1])
  expect(told).toEqual(MAGIC_PLAYERS.map(({ name }) => name))
})

it('the README lists every misfortune of a bot, and only behaviours that exist', () => {
  const [, table = ''] = /## Bad days\n(.*?)\n## /s.exec(readme) ?? []
  const told = [...table.matchAll(/`([a-z]+(?:-[a-z0-9]+)+)`/g)].map((match) => match[1] ?? '')
  const behaviours = Object.keys({ ...BAD_DAYS, ...PEOPLE })
  expect(told.filter((name) => !behaviours.includes(name))).toEqual([])
  expect(MISFORTUNES.filter((name) => !told.includes(name))).toEqual([])
  expect(MISFORTUNES.filter((name) => !behaviours.includes(name))).toEqual([])
})
