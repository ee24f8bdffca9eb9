/** URLs of this machine. */

const ADDRESSES = new Map([
  ['localhost', '127.0.0.1'],
  ['127.0.0.1', '127.0.0.1'],
  ['[::1]', '::1'],
])

/** The address of the URL's host; undefined if it is not this machine. */
export const loopbackAddress = ({ hostname }: URL): string | undefined => ADDRESSES.get(hostname)

export const isLoopback = (url: URL): boolean => loopbackAddress(url) !== undefined

/** True for every name and address of this machine. Browsers resolve names below localhost without DNS. */
export const isLoopbackName = (hostname: string): boolean =>
  /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(hostname)
