import { expect, it } from 'vitest'
import { CODE_ALPHABET, CODE_LENGTH, systemIds } from '../../gateway/kit/ids.ts'
import { looksLikeDeposit } from './gift.ts'

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

it("a secret code of the gateway looks like a deposit's, and a code of characters that the gateway never uses does not", () => {
  expect(looksLikeDeposit(systemIds.secretCode())).toBe(true)
  const readable = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  const accepted = [...readable].filter((character) => looksLikeDeposit(character.repeat(CODE_LENGTH)))
  expect(accepted.join('')).toBe(CODE_ALPHABET)
})
