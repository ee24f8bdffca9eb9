/** The possible meanings of a typed text, by its form. */
import { expect, it } from 'vitest'
import { type Reading, readText } from './find-text.ts'

const HASH = '0123456789abcdef0123456789abcdef'
const EVENT = '01234567-89ab-4def-8123-456789abcdef'
const NOVA = '76561198000000077'
/** The same account in the form of trade links and Steam3 ids. */
const ACCOUNT = '39734349'

function kindsOf(text: string): Reading['kind'][] {
  const read = readText(text)
  return read.kind === 'read' ? read.readings.map(({ kind }) => kind) : []
}

it.each<[string, string, Reading]>([
  ['a deposit’s link', `https://pay.example/deposit/${HASH}`, { kind: 'hash', hash: HASH }],
  ['a short link', `http://localhost:4300/${HASH}`, { kind: 'hash', hash: HASH }],
  [
    'a link of the sandbox without its scheme',
    `localhost:4300/deposit/${HASH}`,
    { kind: 'hash', hash: HASH },
  ],
  [
    'a link in capital letters',
    `HTTPS://PAY.EXAMPLE/deposit/${HASH.toUpperCase()}`,
    { kind: 'hash', hash: HASH },
  ],
  [
    'a link with parameters and a fragment',
    `https://pay.example/deposit/${HASH}?utm=1#top`,
    { kind: 'hash', hash: HASH },
  ],
  ['a hash', HASH, { kind: 'hash', hash: HASH }],
  ['an event’s id, as in its webhooks', EVENT, { kind: 'event', eventId: EVENT }],
  ['a Steam id', NOVA, { kind: 'steam_id', steamId: NOVA }],
  ['a Steam3 id', `[U:1:${ACCOUNT}]`, { kind: 'steam_id', steamId: NOVA }],
  ['a Steam3 id without brackets', `U:1:${ACCOUNT}`, { kind: 'steam_id', steamId: NOVA }],
  ['a Steam2 id', 'STEAM_1:1:19867174', { kind: 'steam_id', steamId: NOVA }],
  [
    'a profile',
    `https://steamcommunity.com/profiles/${NOVA}/inventory/`,
    { kind: 'steam_id', steamId: NOVA },
  ],
  [
    'a profile as people type it',
    `www.steamcommunity.com/profiles/${NOVA}`,
    { kind: 'steam_id', steamId: NOVA },
  ],
  [
    'a trade link',
    `https://steamcommunity.com/tradeoffer/new/?partner=${ACCOUNT}&token=abcDEF12`,
    { kind: 'steam_id', steamId: NOVA },
  ],
  ['an offer', 'https://steamcommunity.com/tradeoffer/6012345678/', { kind: 'offer', offerId: '6012345678' }],
  [
    'an offer in the client',
    'steam://url/ShowTradeOffer/6012345678',
    { kind: 'offer', offerId: '6012345678' },
  ],
  [
    'an item in an inventory',
    `https://steamcommunity.com/profiles/${NOVA}/inventory/#730_2_38112345678`,
    { kind: 'asset', assetId: '38112345678' },
  ],
  ['an item as lists show it', '17-38112345678', { kind: 'item', tradeId: '17', assetId: '38112345678' }],
  ['a secret code, as somebody types it', ' k7qx2m ', { kind: 'code', code: 'K7QX2M' }],
  ['a number', '6012345678', { kind: 'number', digits: '6012345678' }],
  ['an order id', 'order 77/b', { kind: 'order', externalId: 'order 77/b' }],
  ['an item’s name', 'AK-47 | Redline', { kind: 'words', words: ['ak', '47', 'redline'] }],
  ['a name in another alphabet', 'Лавка Игр', { kind: 'words', words: ['лавка', 'игр'] }],
])('%s is recognised by its form', (_, text, reading) => {
  const read = readText(text)
  expect(read.kind === 'read' && read.readings).toContainEqual(reading)
})

it('digits can be a number, an order id or, in the form of a Steam id, an account', () => {
  expect(kindsOf('1001')).toEqual(['number', 'order'])
  expect(kindsOf(NOVA)).toEqual(['steam_id', 'number', 'order'])
})

it('a hash or an event’s id can also be an order id, but not a name', () => {
  expect(kindsOf(HASH)).toEqual(['hash', 'order'])
  expect(kindsOf(EVENT)).toEqual(['event', 'order'])
})

it('a Steam id with an impossible account number is read as an order id or a name', () => {
  expect(kindsOf('[U:1:0]')).toEqual(['order', 'words'])
})

it('six characters are not a secret code if one of them is easily misread', () => {
  expect(kindsOf('K7QX2O')).toEqual(['order', 'words'])
})

it.each([
  ['a blank text', '  '],
  ['an address of something that the till does not store', 'https://steamcommunity.com/id/nova_hound'],
  [
    'a trade link with an impossible account number',
    'https://steamcommunity.com/tradeoffer/new/?partner=99999999999999&token=abc',
  ],
  ['two lines', 'order 1\norder 2'],
  ['a text longer than any id', 'x'.repeat(513)],
])('%s is refused, with a reason that does not repeat it', (_, text) => {
  const read = readText(text)
  expect(read).toMatchObject({ kind: 'unreadable' })
  if (text.trim() !== '') expect(read).toHaveProperty('why', expect.not.stringContaining(text))
})
