import { describe, expect, it } from 'vitest'
import { createSandboxAgent } from './agent.ts'

describe('the redirect to the sandbox', () => {
  it.each(['http://127.0.0.1:4301', 'http://localhost:4301/', 'http://[::1]:4301'])('accepts %s', (url) => {
    expect(() => createSandboxAgent('sandbox', url)).not.toThrow()
  })

  it.each([
    'http://192.168.1.4:4301',
    'http://127.0.0.1.example.com:4301',
    'http://localhost.example.com:4301',
    'http://user@127.0.0.1:4301',
    'http://127.0.0.1:4301/steam',
    'https://127.0.0.1:4301',
    'http://0.0.0.0:4301',
    'steamcommunity.com',
    '',
  ])('refuses %j', (url) => {
    expect(() => createSandboxAgent('sandbox', url)).toThrow(/must be on this machine/)
  })

  it('is refused in live mode', () => {
    expect(() => createSandboxAgent('live', 'http://127.0.0.1:4301')).toThrow(/refused in live mode/)
  })
})
