import { describe, expect, test } from 'vitest'
import { isAllowedUrl, parseOrigin } from './origins.ts'

const ORIGINS = ['https://store.example', 'http://localhost:4302']

describe('the check of the store’s address to which shoppers return', () => {
  test.each([
    'https://store.example',
    'https://store.example/',
    'https://store.example/done?id=1#top',
    'https://STORE.example/done',
    'https://store.example:443/done',
    'https://store.example/a@b',
    'http://localhost:4302/topups/7',
  ])('allows %s', (url) => {
    expect(isAllowedUrl(url, ORIGINS)).toBe(true)
  })

  test.each([
    '//store.example',
    '/\\store.example',
    'https:store.example',
    'https:/store.example',
    'https:///store.example',
    'https:\\\\store.example',
    'https://store.example\\@evil.example',
    'https://evil.example\\@store.example',
    'https://store.example@evil.example',
    'https://user@store.example',
    'https://user:pass@store.example',
    'https://@store.example',
    'https://store.example.evil.example',
    'https://evil.example/https://store.example',
    'https://evil.example?https://store.example',
    'https://evil.example#https://store.example',
    'https://store.example:444',
    'http://store.example',
    'ftp://store.example',
    'javascript:alert(1)',
    'javascript://store.example/%0aalert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,hello',
    'blob:https://store.example/1',
    'https://store.example/%0d%0a\r\nSet-Cookie: a=b',
    'https://store.example/\nx',
    'https://sto\tre.example',
    ' https://store.example',
    'https://store.example ',
    'https://store\u3002example',
    'https://store\u200b.example',
    'https://store.example/\u202egpj',
    'https://store.example\u0000.evil.example',
    'https://xn--store-.example',
    'https://store.example.',
    '',
    'store.example',
    'https://',
    'null',
  ])('refuses %j', (url) => {
    expect(isAllowedUrl(url, ORIGINS)).toBe(false)
  })
})

describe('the parser of a store’s origins', () => {
  test.each([
    ['https://store.example', 'https://store.example'],
    ['https://store.example/', 'https://store.example'],
    ['http://localhost:4302', 'http://localhost:4302'],
  ])('reads %s as %s', (text, origin) => {
    expect(parseOrigin(text, 'sandbox')).toBe(origin)
  })

  test.each([
    'https://store.example/path',
    'https://user@store.example',
    'store.example',
    '*',
    'null',
    'file:///x',
  ])('refuses %s', (text) => {
    expect(parseOrigin(text, 'sandbox')).toBeUndefined()
  })

  test('accepts only https in live mode', () => {
    expect(parseOrigin('https://store.example', 'live')).toBe('https://store.example')
    expect(parseOrigin('http://store.example', 'live')).toBeUndefined()
    expect(parseOrigin('http://localhost:4302', 'live')).toBeUndefined()
  })
})
