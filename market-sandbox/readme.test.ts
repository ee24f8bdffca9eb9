import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { TEMPERS } from './world/world.ts'

const textOf = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')
const readme = textOf('README.md')

it('the README lists every call of the control API, and no other', () => {
  const listed = [...readme.matchAll(/^\| `(\w+) \/control\/([^`]*)` \|/gm)].map(([, method, path = '']) =>
    [method, ...path.replace(/\{\w+\}/, '*').split('/')].join(' '),
  )
  const served = [...textOf('routes/control.ts').matchAll(/^ {2}'(\w+ [^']+)':/gm)].map((match) => match[1])
  expect(listed.sort()).toEqual(served.sort())
})

it('the README lists every call of the market family except those always refused, and no other', () => {
  const table = readme.slice(readme.indexOf('| about | calls |'), readme.indexOf("Waxpeer's host"))
  const listed = [...table.matchAll(/`(?:POST )?([\w-]+)[^`]*`/g)].map((match) => match[1] ?? '')
  const sources = ['account', 'selling', 'sales'].map((name) => textOf(`routes/${name}.ts`)).join('\n')
  const served = [...sources.matchAll(/^ {2}'(?:GET|POST) ([\w-]+)':/gm)].map((match) => match[1] ?? '')
  // These routes refuse every call.
  const dead = ['ping', 'set-steam-api-key']
  expect([...listed].sort()).toEqual([...served.filter((name) => !dead.includes(name)), 'prices'].sort())
})

it('the README lists every call of Waxpeer, and no other', () => {
  const table = readme.slice(
    readme.indexOf('| about | calls |', readme.indexOf("Waxpeer's host")),
    readme.indexOf('| the socket |'),
  )
  const listed = [...table.matchAll(/`([\w/-]+)`/g)].map((match) => match[1] ?? '')
  const served = [...textOf('routes/waxpeer.ts').matchAll(/^ {2}'(?:GET|POST) ([\w/-]+)':/gm)].map(
    (match) => match[1] ?? '',
  )
  expect([...listed].sort()).toEqual([...new Set(served)].sort())
})

it('the README lists every temper of buyers, and no other', () => {
  const listed = [...readme.matchAll(/^\| `([a-z]+)` \|/gm)].map((match) => match[1] ?? '')
  expect(listed).toEqual(Object.keys(TEMPERS))
})
