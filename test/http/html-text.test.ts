import { expect, test } from 'vitest';
import { html } from '../../src/http/html.ts';
import { htmlToText } from '../../src/http/html-text.ts';

test.each([
  ['<h1>Done</h1><p>Order <b>12</b> &amp; 13</p>', 'Done\nOrder 12 & 13'],
  ['a<br>b<br/>c', 'a\nb\nc'],
  ['<table><tr><td>x</td><td>1</td></tr><tr><td>y</td><td>2</td></tr></table>', 'x 1\ny 2'],
  ['<script>alert("<p>no</p>")</script>yes', 'yes'],
  ['<style>p{}</style><!-- <p>no</p> -->yes', 'yes'],
  ['<img src=x onerror="alert(1)>2">after', 'after'],
  ['<a href="javascript:alert(1)">link</a>', 'link'],
  ['1 < 2 and 3 > 2', '1 < 2 and 3 > 2'],
  ['&lt;script&gt; &#x41;&#66; &unknown; &#0;', '<script> AB &unknown;'],
  ['<script>never closed', ''],
  ['<p', ''],
  ['<!doctype html><p>x', 'x'],
  ['plain', 'plain'],
])('%s', (html, text) => {
  expect(htmlToText(html)).toBe(text);
});

// CWE-116: the result is plain text, not HTML, and our pages escape it again.
test('escaped markup is text, and is escaped again in a page', () => {
  const text = htmlToText('<p>&lt;img src=x onerror=alert(1)&gt;</p>');
  expect(text).toBe('<img src=x onerror=alert(1)>');
  expect(html`<p>${text}</p>`.text).toBe('<p>&lt;img src=x onerror=alert(1)&gt;</p>');
});

// CWE-1333: a parser of quadratic time exceeds the time limit of the test.
test('a long text is cut, and hostile input takes no longer', () => {
  expect(htmlToText('<'.repeat(1_000_000)).length).toBe(4001);
  expect(htmlToText(`<a ${'b="'.repeat(300_000)}`)).toBe('');
  expect(htmlToText(`<p>${'word '.repeat(5000)}</p>`)).toHaveLength(4001);
});
