import { expect, it } from 'vitest'
import { CODE_ALPHABET, CODE_LENGTH, systemIds } from '../../gateway/kit/ids.ts'
import { isGift, isSameSet, looksLikeDeposit } from './gift.ts'

it.each(['K7MXPQ', ' K7MXPQ ', 'code K7MXPQ', 'K7MXPQ!'])(
  'the message "%s" looks like that of a deposit’s offer',
  (message) => {
    expect(looksLikeDeposit(message)).toBe(true)
  },
)

it.each([
  '',
  'k7mxpq',
  'K7MXP',
  'K7MXPQR',
  'vault w17 2 items',
  'ABCD https://market.example/trade/1234567890/',
])('the message "%s" does not look like that of a deposit’s offer', (message) => {
  expect(looksLikeDeposit(message)).toBe(false)
})

it('a secret code looks like the message of a deposit’s offer, and a code of other characters does not', () => {
  expect(looksLikeDeposit(systemIds.secretCode())).toBe(true)
  const alphanumerics = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  const codeCharacters = [...alphanumerics].filter((character) =>
    looksLikeDeposit(character.repeat(CODE_LENGTH)),
  )
  expect(codeCharacters.join('')).toBe(CODE_ALPHABET)
})

it('two lists have the same items if both contain each of them once, in any order', () => {
  const [a, b, c] = ['1', '2', '3'].map((assetId) => ({ appId: 730, contextId: '2', assetId }))
  if (a === undefined || b === undefined || c === undefined) throw new Error('three items are needed')
  expect(isSameSet([a, b], [b, a])).toBe(true)
  expect(isSameSet([a, b], [a, c])).toBe(false)
  expect(isSameSet([a, b], [a])).toBe(false)
  expect(isSameSet([a], [a, b])).toBe(false)
  expect(isSameSet([a, a], [a, b])).toBe(false)
  expect(isSameSet([a, b], [a, a])).toBe(false)
  expect(isSameSet([a, b], [a, { ...b, contextId: '16' }])).toBe(false)
})

it('an offer is a gift if it is ours, with the right account, message and items, and takes nothing', () => {
  const assets = [{ appId: 730, contextId: '2', assetId: '1' }]
  const gift = { partnerSteamId: '76561198000000021', token: 'AbC12-_x', message: 'w1', assets }
  const { partnerSteamId, message } = gift
  const offer = { partnerSteamId, message, isOurs: true, gives: assets, takes: [] }
  expect(isGift(offer, gift)).toBe(true)
  for (const change of [
    { isOurs: false },
    { partnerSteamId: '76561198000000031' },
    { message: 'w2' },
    { gives: [] },
    { takes: [{ appId: 730, contextId: '2', assetId: '9' }] },
  ])
    expect(isGift({ ...offer, ...change }, gift), JSON.stringify(change)).toBe(false)
  expect(isGift({ ...offer, gives: [] }, { ...gift, assets: [] })).toBe(false)
})
