import { describe, expect, test } from 'vitest'
import { createSecretBox, markOf } from './secret-box.ts'

const box = createSecretBox(Buffer.alloc(32, 7))
const SEALED_BY_0_2_0 = 'AQC0Yp2iY+g6X49kxW4zvGvfxJL8Uu4qjW7Uyema9dWG6ILQ9AZMZZGTDQ=='

describe('a secret box', () => {
  test('opens a secret that it sealed for the same place', () => {
    expect(box.open(box.seal('s3cret ж', 'bot:1:refresh_token'), 'bot:1:refresh_token')).toBe('s3cret ж')
  })

  test('seals the same secret differently each time, and not as plain text', () => {
    const [first, second] = [box.seal('s3cret', 'a'), box.seal('s3cret', 'a')]
    expect(first.equals(second)).toBe(false)
    expect(first.includes('s3cret')).toBe(false)
  })

  test('does not open a secret for another place, with another key, or with a changed byte', () => {
    const sealed = box.seal('s3cret', 'store:1:webhook_secret')
    expect(() => box.open(sealed, 'store:2:webhook_secret')).toThrow()
    expect(() => createSecretBox(Buffer.alloc(32, 8)).open(sealed, 'store:1:webhook_secret')).toThrow()
    // A byte of the key's id, of the nonce, and of the ciphertext.
    for (const at of [1, 13, sealed.length - 1]) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(() => box.open(changed, 'store:1:webhook_secret')).toThrow()
    }
  })

  test('refuses a text that is not sealed, and a key that is not 32 bytes long', () => {
    expect(() => box.open(Buffer.from('plain'), 'a')).toThrow('Not a sealed secret')
    expect(() => createSecretBox(Buffer.alloc(16))).toThrow('32 bytes')
  })

  test('opens secrets that its old keys sealed, and seals with the master key', () => {
    const [older, newer] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)]
    const ring = createSecretBox(newer, [older])
    expect(ring.open(box.seal('s3cret', 'a'), 'a')).toBe('s3cret')
    const sealed = ring.seal('s3cret', 'a')
    expect(sealed.subarray(0, 9)).toEqual(markOf(newer))
    expect(createSecretBox(newer).open(sealed, 'a')).toBe('s3cret')
    expect(() => box.open(sealed, 'a')).toThrow('No key of this till sealed the secret')
  })

  test('opens secrets that version 0.2.0 sealed, which do not name their key', () => {
    const sealed = Buffer.from(SEALED_BY_0_2_0, 'base64')
    const place = 'bot:1:refresh_token'
    const ring = createSecretBox(Buffer.alloc(32, 8), [Buffer.alloc(32, 7)])
    expect([box.open(sealed, place), ring.open(sealed, place)]).toEqual(Array(2).fill('token of 0.2.0'))
    expect(() => box.open(sealed, 'bot:2:refresh_token')).toThrow()
    expect(() => createSecretBox(Buffer.alloc(32, 8)).open(sealed, place)).toThrow()
  })
})
