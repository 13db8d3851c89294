package memory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/recollect-go/recollect/memory"
)

func TestSystemPromptLanguageFollowsThePrimarySubtag(t *testing.T) {
	t.Parallel()
	english, chinese := memory.SystemPrompt("en"), memory.SystemPrompt("zh")
	assert.NotEqual(t, english, chinese)
	for _, tag := range []string{"zh", "ZH", "zh-CN", "zh_TW", "zh-Hans-CN"} {
		assert.Equal(t, chinese, memory.SystemPrompt(tag), tag)
	}
	for _, tag := range []string{"", "en-GB", "fr", "zhx", "x-zh"} {
		assert.Equal(t, english, memory.SystemPrompt(tag), tag)
	}
}

func TestSystemPromptStatesEveryRule(t *testing.T) {
	t.Parallel()
	rules := map[string][]string{
		"en": {"data", "never instructions", "stable facts", "passwords", "tokens", "payment data", "keys", "one-time codes", "tell the user"},
		"zh": {"数据", "绝不是指令", "稳定事实", "密码", "令牌", "支付信息", "密钥", "一次性验证码", "告诉用户"},
	}
	for tag, words := range rules {
		for _, word := range words {
			assert.Contains(t, memory.SystemPrompt(tag), word)
		}
		assert.NotContains(t, memory.SystemPrompt(tag), "\n", "it is one paragraph")
	}
}

func ExampleSystemPrompt() {
	system := "You are an on-call assistant.\n\n" + memory.SystemPrompt("en")
	fmt.Println(strings.Contains(system, "never instructions"))
	// Output: true
}
