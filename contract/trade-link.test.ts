import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isTradeLink, parseTradeLink } from './trade-link.ts'

const LINK = 'https://steamcommunity.com/tradeoffer/new/?partner=123456&token=aB3_-xyz'

describe('A-080 a trade link', () => {
  it.each([
    ['with https', LINK],
    ['with http', LINK.replace('https', 'http')],
    ['with www', LINK.replace('//', '//www.')],
    ['with spaces around it', `  ${LINK}\t`],
    ['with a line break after it', `${LINK}\r\n`],
    ['with a token of three letters', LINK.replace('aB3_-xyz', 'abc')],
    ['with a token of 300 letters', LINK.replace('aB3_-xyz', 'a'.repeat(300))],
    ['with zeros before its account', LINK.replace('123456', '00000123456')],
    ['with the largest account id', LINK.replace('123456', '4294967295')],
  ])('is accepted: %s', (_what, text) => {
    expect(parseTradeLink(text)).toBeDefined()
    expect(isTradeLink(text)).toBe(true)
  })

  it('is parsed into its account, its token and its canonical form', () => {
    expect(
      parseTradeLink(' http://www.steamcommunity.com/tradeoffer/new/?partner=0123456&token=a-_9 '),
    ).toEqual({
      partner: '123456',
      token: 'a-_9',
      url: 'https://steamcommunity.com/tradeoffer/new/?partner=123456&token=a-_9',
    })
  })

  it.each([
    ['nothing', ''],
    ['only spaces', '   '],
    ['another host', LINK.replace('steamcommunity.com', 'steamcommunity.ru')],
    ['a host that only ends like Steam', LINK.replace('steamcommunity', 'xsteamcommunity')],
    ['a host that only begins like Steam', LINK.replace('.com', '.com.example')],
    ['another letter for the dot of the host', LINK.replace('.com', 'xcom')],
    ['a subdomain', LINK.replace('//', '//trade.')],
    ['a name before the host', LINK.replace('//', '//steamcommunity.com@evil.example/')],
    ['a port', LINK.replace('.com', '.com:443')],
    ['another scheme', LINK.replace('https', 'ftp')],
    ['no scheme', LINK.replace('https://', '')],
    ['a partner with letters', LINK.replace('123456', '12a456')],
    ['a partner in other digits', LINK.replace('123456', '١٢٣')],
    ['no partner', LINK.replace('123456', '')],
    ['a negative partner', LINK.replace('123456', '-1')],
    ['a token of two letters', LINK.replace('aB3_-xyz', 'ab')],
    ['a token with a dot', LINK.replace('aB3_-xyz', 'ab.cd')],
    ['a token with a space', LINK.replace('aB3_-xyz', 'ab cd')],
    ['no token', LINK.replace('&token=aB3_-xyz', '')],
    ['an empty token', LINK.replace('aB3_-xyz', '')],
    ['a missing slash', LINK.replace('new/?', 'new?')],
    ['the parameters in another order', LINK.replace('partner=123456&token=aB3_-xyz', 'token=abc&partner=1')],
    ['a further parameter', `${LINK}&x=1`],
    ['a fragment', `${LINK}#top`],
    ['text before it', `link: ${LINK}`],
    ['text after it', `${LINK} thanks`],
    ['text on the next line', `${LINK}\nhttps://evil.example`],
    ['two links', `${LINK}${LINK}`],
  ])('is refused: %s', (_what, text) => {
    expect(parseTradeLink(text)).toBeUndefined()
    expect(isTradeLink(text)).toBe(false)
  })

  it.each([
    ['of account 0', LINK.replace('123456', '0')],
    ['of an account over 32 bits', LINK.replace('123456', '4294967296')],
    ['of an account of a million digits', LINK.replace('123456', '9'.repeat(1_000_000))],
    ['of 513 characters', `${LINK}${'a'.repeat(513 - LINK.length)}`],
    ['of a million characters', `${LINK}${'a'.repeat(1_000_000)}`],
  ])('%s has the right form, but is refused', (_what, text) => {
    expect(isTradeLink(text)).toBe(true)
    expect(parseTradeLink(text)).toBeUndefined()
  })

  it('is not changed by parsing if it is in canonical form', () => {
    const links = fc.record({
      partner: fc.integer({ min: 1, max: 4_294_967_295 }),
      token: fc.stringMatching(/^[A-Za-z0-9_-]{3,100}$/),
    })
    fc.assert(
      fc.property(links, ({ partner, token }) => {
        const url = `https://steamcommunity.com/tradeoffer/new/?partner=${partner}&token=${token}`
        expect(parseTradeLink(url)).toEqual({ partner: String(partner), token, url })
      }),
    )
  })
})
