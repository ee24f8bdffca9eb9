import { describe, expect, it } from 'vitest'
import { readTrustedProxies } from './trusted-proxies.ts'

describe('the list of trusted proxies', () => {
  it.each([
    '127.0.0.1',
    '::1',
    '10.0.0.0/8',
    '104.16.0.0/13',
    '2400:cb00::/32',
    'fc00::/7',
    '::ffff:10.0.0.1',
    'loopback',
    'uniquelocal, linklocal',
    '192.0.2.1,198.51.100.0/24',
  ])('accepts %s', (text) => {
    const proxies = text.split(',').map((entry) => entry.trim())
    expect(readTrustedProxies(text)).toEqual({ kind: 'proxies', proxies })
  })

  it('may be the word "none", for callers that connect directly', () => {
    expect(readTrustedProxies('none')).toEqual({ kind: 'none' })
  })

  it.each([
    ['0.0.0.0/0', 'has 0.0.0.0/0, which is so wide that callers would count as proxies'],
    ['::/0', 'has ::/0, which is so wide that callers would count as proxies'],
    ['fc00::/0', 'has fc00::/0, which is so wide that callers would count as proxies'],
    ['fd00::/6', 'has fd00::/6, which is so wide that callers would count as proxies'],
    ['0.0.0.0/1,128.0.0.0/1', 'has 0.0.0.0/1, which is so wide that callers would count as proxies'],
    ['10.0.0.1,2000::/3', 'has 2000::/3, which is so wide that callers would count as proxies'],
    ['::ffff:0:0/96', 'has ::ffff:0:0/96, which is so wide that callers would count as proxies'],
    ['::ffff:0.0.0.0/97', 'has ::ffff:0.0.0.0/97, which is so wide that callers would count as proxies'],
    ['0.0.0.0', "has 0.0.0.0, which is nobody's address"],
    ['::', "has ::, which is nobody's address"],
    ['0.0.0.0/8', "has 0.0.0.0/8, which is nobody's address"],
    ['127.0.0.1,none', 'has the word none among other entries'],
    ...[
      '*',
      'true',
      'all',
      '1',
      'proxy.internal',
      '10.1',
      '0x7f000001',
      '10.0.0.0/33',
      '10.0.0.0/255.0.0.0',
    ].map((entry) => [entry, `has "${entry}", which is not an address or a range`]),
    ['127.0.0.1,', 'has "", which is not an address or a range'],
    ['127.0.0.1 10.0.0.1', 'has "127.0.0.1 10.0.0.1", which is not an address or a range'],
  ])('refuses %s, and says what to write instead', (text, reason) => {
    expect(readTrustedProxies(text)).toEqual({
      kind: 'refused',
      reason: `${reason}: give the addresses of your proxies, such as 127.0.0.1 or 10.0.0.0/24, or the word none if callers connect directly`,
    })
  })
})
