/** The doctor at a public URL without https, which only a sandbox has. */
import { expect, it } from 'vitest'
import { proxyFindings } from './proxy.ts'

it('a public URL without https has no finding about https or a proxy', () => {
  const build = { version: '1.2.3', commit: 'abc' }
  const findings = proxyFindings(
    {
      kind: 'answered',
      build,
      caller: { address: '127.0.0.1', protocol: 'http', isProxy: false },
      certificateEndsMs: undefined,
      hsts: null,
      page: { status: 200, encoding: 'br' },
      largeBody: { status: 401, isOurs: true },
      plain: { kind: 'closed' },
    },
    { build, nowMs: 0, publicUrl: new URL('http://localhost:4300') },
  )
  expect(Object.fromEntries(findings.map(({ check, state }) => [check, state]))).toEqual({
    public: 'good',
    'proxy.caller': 'not_checked',
    'proxy.tls': 'not_checked',
    'proxy.hsts': 'not_checked',
    'proxy.compression': 'good',
    'proxy.body': 'good',
    'proxy.http': 'not_checked',
  })
})
