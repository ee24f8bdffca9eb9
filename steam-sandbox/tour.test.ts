import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type RunningSteam, startSteam } from './start.ts'

let steam: RunningSteam
let played: string[] = []

beforeAll(async () => {
  steam = await startSteam({ port: 0, seed: 'tour', onScene: (name) => void played.push(name) })
})
afterAll(() => steam.close())

const SCENES = [
  { name: 'paid', title: 'Paid <b>', line: 'Somebody pays.' },
  { name: 'held', title: 'Held', line: 'Somebody waits.' },
]

const JSON_BODY = { 'content-type': 'application/json' }

const put = async (path: string, body: object): Promise<number> =>
  (await fetch(`${steam.url}${path}`, { method: 'PUT', headers: JSON_BODY, body: JSON.stringify(body) }))
    .status
const press = (name: string): Promise<Response> =>
  fetch(`${steam.url}/tour/`, {
    method: 'POST',
    headers: { origin: steam.url },
    body: new URLSearchParams({ play: name }),
    redirect: 'manual',
  })
const pageText = async (): Promise<string> => (await fetch(`${steam.url}/tour/`)).text()

beforeEach(async () => {
  played = []
  await put('/control/tour', { scenes: SCENES })
})

it('without scenes, the page names `npm start`', async () => {
  await put('/control/tour', { scenes: [] })
  expect(await pageText()).toContain('npm start')
})

it('one scene plays at a time: a press during a scene is ignored', async () => {
  expect((await press('paid')).headers.get('location')).toBe('/tour/#paid')
  await press('held')
  await press('paid')
  await press('unknown')
  expect(played).toEqual(['paid'])
  expect(await pageText()).toContain('data-playing')
  expect(await put('/control/tour/paid', { state: 'done', summary: 'Paid.', links: [] })).toBe(200)
  await press('held')
  expect(played).toEqual(['paid', 'held'])
})

it('the page shows the result of a scene as text, with links to this machine only', async () => {
  const links = [{ label: 'The <store>', url: 'http://localhost:4302/' }]
  expect(await put('/control/tour/paid', { state: 'done', summary: 'It was <i>paid</i>.', links })).toBe(200)
  const shown = await pageText()
  expect(shown).toContain('It was &#60;i&#62;paid&#60;/i&#62;.')
  expect(shown).toContain('<a href="http://localhost:4302/"')
  expect(shown).not.toContain('<b>')
  for (const url of ['https://elsewhere.example/', 'javascript:alert(1)', 'http://localhost:1"onclick=']) {
    const change = { state: 'done', summary: 'Look.', links: [{ label: 'here', url }] }
    expect(await put('/control/tour/paid', change)).toBe(400)
  }
})

it('scenes and results in an unexpected form, and the result of an unknown scene, are refused', async () => {
  expect(await put('/control/tour', { scenes: [{ name: 'paid' }] })).toBe(400)
  expect(await put('/control/tour', { scenes: 'all' })).toBe(400)
  expect(await put('/control/tour/paid', { state: 'ready', summary: '', links: [] })).toBe(400)
  expect(await put('/control/tour/other', { state: 'done', summary: '', links: [] })).toBe(400)
})
