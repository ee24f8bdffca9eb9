const ADDRESSES = new Map([
  ['localhost', '127.0.0.1'],
  ['127.0.0.1', '127.0.0.1'],
  ['[::1]', '::1'],
])

/** The IP address of the URL's host if that is localhost, 127.0.0.1 or ::1; otherwise undefined. */
export const loopbackAddress = ({ hostname }: URL): string | undefined => ADDRESSES.get(hostname)

/** Narrower than `isLoopbackName`: false for names below localhost, and for 127.0.0.2. */
export const isLoopback = (url: URL): boolean => loopbackAddress(url) !== undefined

/** True for localhost and names below it, 127.0.0.0/8 and ::1. Browsers resolve names below localhost without DNS. */
export const isLoopbackName = (hostname: string): boolean =>
  /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(hostname)
