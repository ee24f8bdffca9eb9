import { describe, expect, it } from 'vitest'
import { isTradeLink } from '../../contract/trade-link.ts'
import { tradeLinkIn } from './pasted.ts'

const LINK = 'https://steamcommunity.com/tradeoffer/new/?partner=123456&token=aB3_-xyz'
const OTHER = LINK.replace('123456', '654321')

describe('a paste', () => {
  it.each([
    ['alone', LINK],
    ['with spaces and line breaks', `\n  ${LINK}\t\r\n`],
    ['with http and www', LINK.replace('https://', 'http://www.')],
    ['without https', LINK.replace('https://', '')],
    ['without https, with www', LINK.replace('https://', 'www.')],
    ['in a sentence', `my trade url: ${LINK}, thanks!`],
    ['at the end of a sentence', `Take this one: ${LINK}.`],
    ['in brackets', `trade (${LINK})`],
    ['in quotes', `"${LINK}"`],
    ['in a tag', `<a href="${LINK.replace('&', '&amp;')}">trade</a>`],
    ['twice', `${LINK}\n${LINK}`],
    [
      'with its parameters swapped',
      LINK.replace('partner=123456&token=aB3_-xyz', 'token=aB3_-xyz&partner=123456'),
    ],
    ['with a further parameter', `${LINK}&l=english`],
    ['without the last slash', LINK.replace('new/?', 'new?')],
    ['next to a link to the profile', `https://steamcommunity.com/id/ada ${LINK}`],
    ['next to half a link', `${LINK.slice(0, -9)} ${LINK}`],
  ])('that contains one trade link, %s, gives just that link', (_what, text) => {
    expect(tradeLinkIn(text)).toBe(LINK)
    expect(isTradeLink(tradeLinkIn(text) ?? '')).toBe(true)
  })

  it.each([
    ['nothing', ''],
    ['two trade links', `${LINK} ${OTHER}`],
    ['a token with a dot in it', LINK.replace('aB3_', 'aB3.')],
    ['a token of two letters', LINK.replace('aB3_-xyz', 'ab')],
    ['no token', LINK.replace(/&.*/, '')],
    ['letters for an account', LINK.replace('123456', '12a')],
    ['another host', LINK.replace('.com', '.ru')],
    ['a host that begins like Steam’s', LINK.replace('.com', '.com.evil.example')],
    ['a host that ends like Steam’s', LINK.replace('//', '//evil-')],
    ['a subdomain', LINK.replace('//', '//evil.')],
    ['a name before the host', LINK.replace('//', '//evil@')],
    ['a profile', 'https://steamcommunity.com/id/ada'],
  ])('of %s gives no link', (_what, text) => {
    expect(tradeLinkIn(text)).toBeUndefined()
  })

  it('of a million letters is searched for a link too', () => {
    expect(tradeLinkIn(`${'steamcommunity.com/tradeoffer/new/?'.repeat(30_000)} ${LINK}`)).toBe(LINK)
  })
})
