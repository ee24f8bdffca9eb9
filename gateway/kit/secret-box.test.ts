import { describe, expect, test } from 'vitest'
import { createSecretBox } from './secret-box.ts'

const box = createSecretBox(Buffer.alloc(32, 7))

describe('secret box', () => {
  test('opens what it sealed, in the same place', () => {
    expect(box.open(box.seal('s3cret ж', 'bot:1:refresh_token'), 'bot:1:refresh_token')).toBe('s3cret ж')
  })

  test('seals the same secret differently each time and never in plain', () => {
    const [first, second] = [box.seal('s3cret', 'a'), box.seal('s3cret', 'a')]
    expect(first.equals(second)).toBe(false)
    expect(first.includes('s3cret')).toBe(false)
  })

  test('does not open in another place, with another key, or changed', () => {
    const sealed = box.seal('s3cret', 'store:1:webhook_secret')
    expect(() => box.open(sealed, 'store:2:webhook_secret')).toThrow()
    expect(() => createSecretBox(Buffer.alloc(32, 8)).open(sealed, 'store:1:webhook_secret')).toThrow()
    for (const at of [1, 13, sealed.length - 1]) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(() => box.open(changed, 'store:1:webhook_secret')).toThrow()
    }
  })

  test('refuses what is not a sealed secret, and a key of another size', () => {
    expect(() => box.open(Buffer.from('plain'), 'a')).toThrow('Not a sealed secret')
    expect(() => createSecretBox(Buffer.alloc(16))).toThrow('32 bytes')
  })
})
